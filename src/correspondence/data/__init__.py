"""What users bring: tables, pairs in memory or in an engine, files, folds of them, and columns turned into numbers."""
