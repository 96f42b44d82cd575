"""The one idea: principal functions, moments of features, and the small linear algebra that every estimator shares."""
