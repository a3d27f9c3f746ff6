"""Uniform whole numbers from the operating system's entropy, by rejection."""

from __future__ import annotations

import os
from collections.abc import Callable

RandBytes = Callable[[int], bytes]
RandBelow = Callable[[int], int]


def randbelow(total: int, randbytes: RandBytes = os.urandom) -> int:
    """One uniform whole number from 0 to ``total - 1``, without bias.

    The spec fixes how bytes become a number, so that the browser module, given
    the same bytes, draws the same number: ``secrets.randbelow`` leaves that open.
    """
    bits = (total - 1).bit_length()
    size = (bits + 7) // 8
    surplus = size * 8 - bits
    while True:
        value = int.from_bytes(randbytes(size), "big") >> surplus
        if value < total:
            return value
