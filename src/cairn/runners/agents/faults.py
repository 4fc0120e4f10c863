"""What went wrong with a model, as the fault of an execution."""

from __future__ import annotations

from cairn.core.execution import Failure
from cairn.ports.models import ModelError, ModelErrorKind

FINAL = frozenset(
    {
        ModelErrorKind.NOT_CONFIGURED,
        ModelErrorKind.AUTHENTICATION,
        ModelErrorKind.NOT_FOUND,
        ModelErrorKind.QUOTA,
        ModelErrorKind.CONTEXT_TOO_LONG,
        ModelErrorKind.REJECTED,
    }
)  # the same again would fail again


def fault_of(fault: ModelError) -> Failure:
    return Failure(fault.kind.value, str(fault), is_final=fault.kind in FINAL)
