"""Many columns in one analysis: multiple correspondence analysis and its relatives."""
