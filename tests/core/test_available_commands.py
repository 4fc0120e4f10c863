"""The available commands, compared with a list in this test."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from cairn.core.approval import Approval
from cairn.core.available_commands import for_approval, for_execution, for_run
from cairn.core.execution import Execution
from cairn.core.plan import Checkpoint, Plan
from cairn.core.run import Run
from cairn.core.states import ApprovalKind, ApprovalStatus, ExecutionState, RunStatus, WaitingOn

AT = datetime(2026, 3, 2, tzinfo=UTC)
PLAN = Plan(tuple(Checkpoint(key=k, position=p, stage=k, id=k, name=k) for p, k in enumerate(("one", "two"))))


def run(status: RunStatus, *states: ExecutionState, **more: object) -> Run:
    executions = [
        Execution(id=c.key, key=c.key, position=c.position, pass_number=1, ordinal=c.position + 1, state=state)
        for c, state in zip(PLAN.checkpoints, states, strict=False)
    ]
    run = Run("run", PLAN, status, executions={e.id: e for e in executions}, created_count=len(executions))
    return replace(run, **more)


def with_approval(of: Run, kind: ApprovalKind, execution: str = "one") -> Run:
    approval = Approval("asked", execution, kind, "digest", AT)
    return replace(of, approvals={approval.id: approval})


RUNS: list[tuple[Run, list[str]]] = [
    (run(RunStatus.NOT_STARTED), ["start", "cancel"]),
    (run(RunStatus.IN_PROGRESS, ExecutionState.WAITING), ["pause", "cancel", "roll back", "restart"]),
    (
        run(RunStatus.IN_PROGRESS, ExecutionState.WORKING, pause_requested=True),
        ["resume", "cancel", "roll back", "restart"],
    ),
    (run(RunStatus.PAUSED, ExecutionState.COMPLETED), ["resume", "cancel", "roll back", "restart"]),
    (run(RunStatus.PAUSED, ExecutionState.FAILED), ["cancel", "roll back", "restart"]),
    (run(RunStatus.FAILED, ExecutionState.FAILED), ["retry", "roll back", "restart"]),
    (run(RunStatus.COMPLETED, ExecutionState.COMPLETED, ExecutionState.COMPLETED), ["retry", "roll back", "restart"]),
    (run(RunStatus.CANCELLED, ExecutionState.CANCELLED), ["retry", "roll back"]),
    (run(RunStatus.CANCELLED, ExecutionState.CANCELLED, archived_by="rollback"), []),
]


@pytest.mark.parametrize(("of", "expected"), RUNS, ids=lambda case: case.status.value if isinstance(case, Run) else "")
def test_available_commands_of_a_run(of: Run, expected: list[str]) -> None:
    assert for_run(of, AT) == expected


EXECUTIONS: list[tuple[Run, list[str]]] = [
    (run(RunStatus.IN_PROGRESS, ExecutionState.PENDING), ["start"]),
    (
        with_approval(run(RunStatus.IN_PROGRESS, ExecutionState.AWAITING_START_APPROVAL), ApprovalKind.START),
        ["approve-start", "reject", "cancel"],
    ),
    (run(RunStatus.IN_PROGRESS, ExecutionState.WORKING), ["cancel"]),
    (
        with_approval(run(RunStatus.IN_PROGRESS, ExecutionState.AWAITING_COMPLETION_APPROVAL), ApprovalKind.COMPLETION),
        ["approve-complete", "revise", "cancel"],
    ),
    (with_approval(run(RunStatus.IN_PROGRESS, ExecutionState.WAITING), ApprovalKind.INPUT), ["submit", "cancel"]),
    (with_approval(run(RunStatus.PAUSED, ExecutionState.WAITING), ApprovalKind.INPUT), ["submit", "cancel"]),
    (run(RunStatus.PAUSED, ExecutionState.PENDING), []),
    (run(RunStatus.FAILED, ExecutionState.FAILED), ["retry", "cancel"]),
    (run(RunStatus.PAUSED, ExecutionState.FAILED), ["retry", "cancel"]),
    (run(RunStatus.IN_PROGRESS, ExecutionState.COMPLETED), []),
    (run(RunStatus.CANCELLED, ExecutionState.CANCELLED), []),
]


@pytest.mark.parametrize(("of", "expected"), EXECUTIONS)
def test_available_commands_of_an_execution(of: Run, expected: list[str]) -> None:
    execution = of.executions["one"]
    if execution.state is ExecutionState.WAITING:
        execution = replace(execution, waiting_on=WaitingOn.HUMAN_FORM)
    assert for_execution(of, execution, AT) == expected


def test_archived_items_have_no_available_commands() -> None:
    archived = replace(run(RunStatus.IN_PROGRESS, ExecutionState.FAILED).executions["one"], archived_by="rollback")
    assert for_execution(run(RunStatus.IN_PROGRESS, ExecutionState.FAILED), archived, AT) == []


def test_available_decisions_of_an_approval() -> None:
    assert for_approval(ApprovalKind.COMPLETION, ApprovalStatus.PENDING, is_archived=False) == [
        "approve",
        "revise",
        "reject",
    ]
    assert for_approval(ApprovalKind.COMPLETION, ApprovalStatus.APPROVED, is_archived=False) == []
    assert for_approval(ApprovalKind.COMPLETION, ApprovalStatus.PENDING, is_archived=True) == []
