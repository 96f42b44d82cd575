"""The command line: what each command reads, computes and writes."""
