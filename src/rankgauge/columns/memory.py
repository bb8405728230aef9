"""
Memory: how the C library's allocator is kept from giving pages back that are wanted again at once.
"""

from __future__ import annotations

import numpy as np

__all__ = ["keep_pages"]

_LARGEST = (1 << 25) - (1 << 13)
"""Nearly the largest block that glibc learns from: 32 MB with what it adds for itself."""


def keep_pages() -> None:
    """
    Let memory that is freed stay with this process, up to 64 MB at the end of each heap.

    By default, glibc asks the kernel for blocks of 128 kB or more, and returns them when they are freed; a page that
    comes back is cleared first. The columns of a block of a file are such blocks, made and freed again and again. When
    a block of the kernel's is freed, glibc learns from its size and takes smaller ones from a heap. So this allocates
    and frees a large one, without touching it; what a program that embeds rankgauge frees stays with it, too. Other
    allocators take no notice.
    """
    np.empty(_LARGEST, dtype=np.uint8)
