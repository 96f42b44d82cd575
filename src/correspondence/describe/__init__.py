"""What an axis separates, in words."""
