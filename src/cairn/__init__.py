"""Cairn runs pipelines of agents, scripts and people, with a checkpoint at every step."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cairn.runners.ctx import Ctx as Ctx
    from cairn.runners.functions import function as function
    from cairn.runners.processes.child.actions import ActionFailed as ActionFailed
    from cairn.runners.processes.child.actions import ActionNotHandedOver as ActionNotHandedOver
    from cairn.runners.processes.child.actions import ActionRefused as ActionRefused
else:
    from importlib import import_module

    # Imported on first use, because the runners are slow to import and most commands don't need them.
    _ACTIONS = "cairn.runners.processes.child.actions"
    _LAZY = {
        "ActionFailed": _ACTIONS,
        "ActionNotHandedOver": _ACTIONS,
        "ActionRefused": _ACTIONS,
        "Ctx": "cairn.runners.ctx",
        "function": "cairn.runners.functions",
    }

    def __getattr__(name: str) -> object:
        if name not in _LAZY:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module(_LAZY[name]), name)


__version__ = "0.1.0"
__all__ = ["ActionFailed", "ActionNotHandedOver", "ActionRefused", "Ctx", "__version__", "function"]
