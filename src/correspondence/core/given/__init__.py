"""What is left of two variables once others are given: regressions on these, features, functions, tests."""
