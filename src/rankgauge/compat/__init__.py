"""
Drop-in modules for four other systems: their public names over our metrics, and their numbers.

`rankgauge.compat.remem`, `rankgauge.compat.haystack`, `rankgauge.compat.classic` and `rankgauge.compat.keyword`; none
of them needs the system it stands in for. Each puts its arguments into samples, judges them under the profile of its
name, and calls our metrics with that profile's parameters, so that a score here is the score of an evaluation under
that profile. Where the original crashes or reads past its input, a `ValueError` says what is wrong; everything else is
as the original has it. `docs/reference/conventions.md` lists what that means.
"""

__all__: list[str] = []
