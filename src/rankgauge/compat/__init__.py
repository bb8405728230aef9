"""
Drop-in modules for four other systems: their public names over our metrics, and their numbers.

`rankgauge.compat.remem`, `rankgauge.compat.haystack`, `rankgauge.compat.classic` and `rankgauge.compat.keyword`; none
of them needs the system that it replaces. Each turns its arguments into samples, judges them under the profile of its
name, and calls our metrics with that profile's parameters, so a score here is the score of an evaluation under that
profile. Where the original crashes or reads past its input, a `ValueError` says what is wrong; everything else is as in
the original. `docs/reference/policy.md` has the details.
"""

__all__: list[str] = []
