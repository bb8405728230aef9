"""Data sets of the literature, with the numbers that textbooks and scipy print for them."""

from __future__ import annotations

import numpy as np

DARWIN = np.array([49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48.0])
"""Differences in height of cross- and self-fertilized maize, in eighths of an inch (Darwin 1876; Fisher 1935)."""

SLEEP_1 = np.array([0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0])
SLEEP_2 = np.array([1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4])
"""Extra hours of sleep of ten patients under two drugs (Student 1908)."""
