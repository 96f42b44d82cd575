"""Which method for which data: a registry, a race, a comparison, and `decompose`."""
