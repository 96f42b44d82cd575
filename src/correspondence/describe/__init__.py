"""What an axis separates, in words, and what a decomposition says, in sentences."""
