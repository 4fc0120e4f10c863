"""Find the approval to decide, with the fields that a decision requires."""

from __future__ import annotations

from dataclasses import dataclass

import sqlalchemy as sa

from cairn.core.errors import CommandRefused
from cairn.core.states import ApprovalKind, ApprovalStatus, ExecutionStatus
from cairn.store import Connection
from cairn.store import tables as t
from cairn.store.errors import NotFound
from cairn.store.runs.run_rows import Row, execution_row

A = t.approvals.c
_SELECT = sa.select(A.approval_id, A.run_id, A.execution_id, A.kind, A.status, A.action_id)


@dataclass(frozen=True, slots=True)
class PendingApproval:
    """The fields of an approval that a decision requires, whatever its status."""

    approval_id: str
    run_id: str
    execution_id: str
    kind: ApprovalKind
    status: ApprovalStatus
    action_id: str | None = None


def find_approval(connection: Connection, approval_id: str) -> PendingApproval:
    row = connection.execute(_SELECT.where(A.approval_id == approval_id)).one_or_none()
    if row is None:
        raise NotFound("approval", approval_id)
    return _approval(row)


@dataclass(frozen=True, slots=True)
class ActionReview:
    """Why people have to look at the action of an approval on its own."""

    is_untrusted: bool = False
    is_simulated: bool = False


def find_review(connection: Connection, approval_id: str) -> ActionReview:
    m = t.messages.c
    row = connection.execute(
        sa.select(
            t.actions.c.untrusted,
            sa.exists().where(m.execution_id == A.execution_id, m.is_simulated).label("is_simulated"),
        )
        .join(t.approvals, A.action_id == t.actions.c.action_id)
        .where(A.approval_id == approval_id)
    ).one_or_none()
    return ActionReview() if row is None else ActionReview(row.untrusted, row.is_simulated)


def find_pending(connection: Connection, execution_id: str, kinds: frozenset[ApprovalKind] | None) -> PendingApproval:
    """The pending approval of an execution. If there is none, the error states the status of the execution."""
    rows = connection.execute(_SELECT.where(A.execution_id == execution_id, A.status == ApprovalStatus.PENDING.value))
    matching = [approval for approval in map(_approval, rows) if kinds is None or approval.kind in kinds]
    if matching:
        return matching[0]
    e = execution_row(connection, execution_id)
    state = f"{e.status}, waiting on {e.waiting_on}" if e.waiting_on else e.status
    raise CommandRefused(
        f"The execution is {state}. It has no such pending approval.", _commands(e.status, e.waiting_on)
    )


def _commands(status: str, waiting_on: str | None) -> tuple[str, ...]:
    match status, waiting_on:
        case ExecutionStatus.WAITING_APPROVAL_TO_START, _:
            return ("approve-start", "reject")
        case ExecutionStatus.WAITING_APPROVAL_TO_COMPLETE, _:
            return ("approve-complete", "revise")
        case ExecutionStatus.PENDING, _:
            return ("start",)
        case _, "human_form":
            return ("submit",)
        case ExecutionStatus.FAILED, _:
            return ("retry", "cancel")
        case _:
            return ()


def _approval(row: Row) -> PendingApproval:
    return PendingApproval(
        row.approval_id,
        row.run_id,
        row.execution_id,
        ApprovalKind(row.kind),
        ApprovalStatus(row.status),
        row.action_id,
    )
