"""Imports httpx without its command line, which would import two more libraries and double the start time."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    import httpx
else:
    modules = cast("dict[str, Any]", sys.modules)
    is_first = "httpx" not in modules
    if is_first:
        modules["httpx._main"] = None  # None in sys.modules makes an import fail, as if it were not installed
    import httpx

    if is_first:
        del modules["httpx._main"]

__all__ = ["httpx"]
