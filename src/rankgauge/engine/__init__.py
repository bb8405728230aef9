"""The facade: an engine knows datasets and plugins, an evaluation resolves, runs and scores."""
