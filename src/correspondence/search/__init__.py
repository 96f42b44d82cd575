"""Items of one variable that belong to values of the other."""
