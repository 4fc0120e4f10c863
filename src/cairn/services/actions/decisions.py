"""What people decide on actions, and why a decision is not possible."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from cairn.core.action import Action
from cairn.core.action_votes import (
    APPROVE,
    DID_NOT_HAPPEN,
    EXECUTE_AGAIN,
    GIVE_UP,
    HAPPENED,
    SEND_AGAIN,
    USE_EARLIER,
)
from cairn.core.errors import CommandRefused
from cairn.core.rule_verdict import RiskLevel
from cairn.core.states import ActionEffect, ApprovalStatus
from cairn.services.engine.commit import Write

REJECT, REVISE, REVOKE, MODIFY = "reject", "revise", "revoke", "modify"
REFUSALS = {
    REJECT: ApprovalStatus.REJECTED,
    REVISE: ApprovalStatus.REVISION_REQUESTED,
    REVOKE: ApprovalStatus.REJECTED,
}
SETTLEMENTS = {
    HAPPENED: ApprovalStatus.APPROVED,
    DID_NOT_HAPPEN: ApprovalStatus.REJECTED,
    SEND_AGAIN: ApprovalStatus.APPROVED,
    GIVE_UP: ApprovalStatus.REJECTED,
}
CHOICES = (APPROVE, MODIFY, *REFUSALS, *SETTLEMENTS)


@dataclass(frozen=True, slots=True)
class NewContent:
    """A modified action after its references were resolved."""

    parameters: dict[str, Any]
    content: dict[str, Any]
    facts: dict[str, Any]
    content_digest: str
    identity: str
    summary: str
    currency: str | None
    effect: ActionEffect
    risk: RiskLevel
    changes: tuple[dict[str, Any], ...]


@dataclass(frozen=True, slots=True)
class ActionDecision:
    """The decision of one person."""

    choice: str  # one of CHOICES
    shown_digest: str | None = None  # of what the person has seen; None: what is current
    on_repeat: str | None = None  # use_earlier or execute_again
    feedback: str = ""
    new_content: NewContent | None = None  # of a modification
    override: bool = False  # an admin decides instead of the people with seats
    writes: tuple[Write, ...] = ()  # rows to save with it


class RepeatUndecided(CommandRefused):
    """The decision doesn't show that the person has seen everything that it depends on.

    Earlier actions exist, and it does not say what to do about them. Or the proposal read content from outside, and
    it has no digest.
    """

    def __init__(self, repeats: tuple[Action, ...], shown_digest: str) -> None:
        text = (
            "This action repeats earlier ones. Review them, then use the earlier result or execute the action again."
            if repeats
            else "This proposal read content from outside. Review it, then send its digest with your decision."
        )
        super().__init__(text, (USE_EARLIER, EXECUTE_AGAIN) if repeats else ())
        self.repeats = repeats
        self.shown_digest = shown_digest
