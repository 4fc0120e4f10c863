"""Cairn runs pipelines of agents, scripts and people, with a checkpoint at every step."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cairn.runners.ctx import Ctx as Ctx
    from cairn.runners.functions import function as function
else:
    from importlib import import_module

    # Imported on first use, because the runners are slow to import and most commands don't need them.
    _LAZY = {"Ctx": "cairn.runners.ctx", "function": "cairn.runners.functions"}

    def __getattr__(name: str) -> object:
        if name not in _LAZY:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module(_LAZY[name]), name)


__version__ = "0.1.0"
__all__ = ["Ctx", "__version__", "function"]
