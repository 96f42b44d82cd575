"""How much of a fit is real: cross-fitting, tests, intervals, the number of components."""
