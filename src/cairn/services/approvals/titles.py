"""The title of an approval, the same in lists, on its page, in notifications and in the terminal."""

from __future__ import annotations

from collections.abc import Mapping

from cairn.core.states import ApprovalKind
from cairn.services.actions import summaries
from cairn.services.text import single_line

TITLES: Mapping[ApprovalKind, str] = {
    ApprovalKind.START: "Start {name}",
    ApprovalKind.COMPLETION: "Approve {name}",
    ApprovalKind.ACTION: "Approve an action of {name}",
    ApprovalKind.OUTCOME: "Confirm an action of {name}",
    ApprovalKind.VALIDATION: "Validate {name}",
    ApprovalKind.OUTCOME: "Settle an action of {name}",
    ApprovalKind.ESCALATION: "Decide how to continue {name}",
    ApprovalKind.INPUT: "Fill in {name}",
}


def brief_title(kind: ApprovalKind, checkpoint_name: str) -> str:
    """A short request without content, such as "Approve Design"."""
    return TITLES[kind].format(name=checkpoint_name)


def approval_title(
    kind: ApprovalKind, checkpoint_name: str, *, reason: str, operation_type: str | None, summary: str | None
) -> str:
    """The request with its key facts: what the action does, or the question. The reason for input is a question."""
    if kind is ApprovalKind.ACTION and operation_type is not None:
        return summary or summaries.short_summary(operation_type)
    if kind is ApprovalKind.OUTCOME and operation_type is not None:
        return single_line(f"Did this happen? {summary or summaries.short_summary(operation_type)}")
    if kind is ApprovalKind.INPUT and reason:
        return single_line(f"{checkpoint_name} asks: {reason}")
    return brief_title(kind, checkpoint_name)
