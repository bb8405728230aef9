"""Platforms take functions, which users write; `test_docs.py` runs those of the page."""

DRIVERS: dict[str, object] = {}
