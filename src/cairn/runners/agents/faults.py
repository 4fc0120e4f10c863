"""What went wrong with a model, as the fault of an execution (A7)."""

from __future__ import annotations

from cairn.core.execution import Fault
from cairn.ports.models import ModelFault, ModelFaultKind

FINAL = frozenset(
    {
        ModelFaultKind.NOT_CONFIGURED,
        ModelFaultKind.AUTHENTICATION,
        ModelFaultKind.NOT_FOUND,
        ModelFaultKind.QUOTA,
        ModelFaultKind.CONTEXT_TOO_LONG,
        ModelFaultKind.REJECTED,
    }
)  # the same again would fail again


def fault_of(fault: ModelFault) -> Fault:
    return Fault(fault.kind.value, str(fault), is_final=fault.kind in FINAL)
