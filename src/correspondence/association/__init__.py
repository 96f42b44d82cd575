"""What goes with what: all pairs of columns of a table, in one pass over its rows."""
