"""httpx without its own command line, which would bring two more libraries and double the time to start."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    import httpx
else:
    modules = cast("dict[str, Any]", sys.modules)
    is_first = "httpx" not in modules
    if is_first:
        modules["httpx._main"] = None  # what is None here counts as not installed
    import httpx

    if is_first:
        del modules["httpx._main"]

__all__ = ["httpx"]
