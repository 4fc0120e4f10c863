"""Cairn runs pipelines of agents, scripts and people, with a checkpoint at every step."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cairn.runners.ctx import Ctx as Ctx
    from cairn.runners.functions import function as function
else:
    from importlib import import_module

    # Imported when they are first asked for, so that `cairn version` need not wait for what runs pipelines.
    _LATER = {"Ctx": "cairn.runners.ctx", "function": "cairn.runners.functions"}

    def __getattr__(name: str) -> object:
        if name not in _LATER:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module(_LATER[name]), name)


__version__ = "0.1.0"
__all__ = ["Ctx", "__version__", "function"]
