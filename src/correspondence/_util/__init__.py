"""Tools that know nothing of the rest: arguments, labels, texts, files, progress bars, threads, kinds of warnings."""
