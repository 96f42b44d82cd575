"""Tools that know nothing of the rest: arguments, labels, files, progress bars, threads, kinds of warnings."""
