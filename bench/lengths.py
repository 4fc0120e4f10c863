"""How long the runs are that are measured, and how often each in one sitting."""

from __future__ import annotations

SIZES = (3, 10, 50)
ROUNDS = 15
WARM = 3
