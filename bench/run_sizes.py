"""The lengths of the measured runs, and how often each is repeated per round of measurements."""

from __future__ import annotations

SIZES = (3, 10, 50)
REPEATS = 15
WARM_UP = 3
