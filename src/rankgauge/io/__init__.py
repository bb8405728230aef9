"""Input and output: the only place that touches files."""
