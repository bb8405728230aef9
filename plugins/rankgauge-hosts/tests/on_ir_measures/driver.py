"""ir_measures has no samples, but rankings with judgments; `test_provider.py` compares these with its own providers."""

DRIVERS: dict[str, object] = {}
