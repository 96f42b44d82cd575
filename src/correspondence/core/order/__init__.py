"""Functions that rise or fall with an order: the best monotone pair, and what it leaves."""
