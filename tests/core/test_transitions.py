"""Every cell of the transition tables, compared with lists in this test."""

from __future__ import annotations

import itertools
from uuid import UUID

import pytest

from cairn.core import transitions
from cairn.core.approval_decisions import HANDLERS
from cairn.core.commands import CommandContext
from cairn.core.draft import Draft
from cairn.core.errors import CommandRefused
from cairn.core.execution import Execution
from cairn.core.run import Rollback, Run
from cairn.core.states import LIVE, OPEN, STATUS_OF, ApprovalKind, ExecutionState, ExecutionStatus, RunStatus
from cairn.core.transitions import ExecutionTransition, RunTransition
from tests.core.harness import BEGIN, plan_of
from tests.core.spec_tables import EXECUTION_MAY_BECOME, RUN_MAY_BECOME, transitions_of

GIVEN = CommandContext(BEGIN, "ann", UUID(int=1))

RUN_TRANSITIONS = """
    not_started  start      in_progress
    not_started  cancel     cancelled
    in_progress  pause      paused
    in_progress  complete   completed
    in_progress  fail       failed
    in_progress  cancel     cancelled
    in_progress  retry      in_progress
    in_progress  roll_back  in_progress
    in_progress  restart    in_progress
    in_progress  rework     in_progress
    in_progress  dismiss    in_progress
    paused       resume     in_progress
    paused       fail       failed
    paused       cancel     cancelled
    paused       retry      in_progress
    paused       roll_back  in_progress
    paused       restart    in_progress
    paused       rework     paused
    paused       dismiss    paused
    failed       retry      in_progress
    failed       roll_back  in_progress
    failed       restart    in_progress
    failed       dismiss    in_progress
    completed    roll_back  in_progress
    completed    restart    in_progress
    completed    rework     in_progress
    cancelled    roll_back  in_progress
"""

EXECUTION_TRANSITIONS = """
    pending                       request_start_approval       awaiting_start_approval
    pending                       make_ready                   ready
    pending                       cancel                       cancelled
    awaiting_start_approval       make_ready                   ready
    awaiting_start_approval       reject_start                 pending
    awaiting_start_approval       fail                         failed
    awaiting_start_approval       cancel                       cancelled
    ready                         dispatch                     working
    ready                         wait                         waiting
    ready                         cancel                       cancelled
    working                       make_ready                   ready
    working                       wait                         waiting
    working                       request_completion_approval  awaiting_completion_approval
    working                       complete                     completed
    working                       fail                         failed
    working                       cancel                       cancelled
    waiting                       make_ready                   ready
    waiting                       wait                         waiting
    waiting                       request_completion_approval  awaiting_completion_approval
    waiting                       complete                     completed
    waiting                       fail                         failed
    waiting                       cancel                       cancelled
    awaiting_completion_approval  make_ready                   ready
    awaiting_completion_approval  wait                         waiting
    awaiting_completion_approval  complete                     completed
    awaiting_completion_approval  fail                         failed
    awaiting_completion_approval  cancel                       cancelled
    failed                        make_ready                   ready
    failed                        request_start_approval       awaiting_start_approval
    failed                        cancel                       cancelled
"""

DECISIONS = """
    start       approve   approved
    start       refuse    rejected
    completion  approve   approved
    completion  revise    revision_requested
    completion  reject    rejected
    action      approve   approved
    action      modify    approved
    action      revise    revision_requested
    action      reject    rejected
    outcome     happened        approved
    outcome     did_not_happen  rejected
    outcome     send_again      approved
    outcome     give_up         rejected
    validation  accept    approved
    validation  feedback  revision_requested
    validation  reject    rejected
    escalation  retry     approved
    escalation  restart   approved
    escalation  accept    approved
    escalation  fail      rejected
    input       answer    approved
    input       decline   rejected
"""


@pytest.mark.parametrize(("status", "verb"), list(itertools.product(RunStatus, RunTransition)))
def test_every_cell_of_the_runs_table(status: RunStatus, verb: RunTransition) -> None:
    legal = transitions_of(RUN_TRANSITIONS).get((status.name.lower(), verb.name.lower()))
    draft = Draft(Run("run", plan_of("a"), status), GIVEN)
    if legal is None:
        with pytest.raises(CommandRefused) as raised:
            draft.move_run(verb)
        assert raised.value.suggestions == transitions.available_transitions(status)
        assert draft.run == Run("run", plan_of("a"), status)
        assert (draft.events, draft.effects) == ([], [])
    else:
        draft.move_run(verb)
        assert draft.run.status.name.lower() == legal
        assert len(draft.events) == int(legal != status.name.lower())


@pytest.mark.parametrize(("state", "verb"), list(itertools.product(ExecutionState, ExecutionTransition)))
def test_every_cell_of_the_executions_table(state: ExecutionState, verb: ExecutionTransition) -> None:
    legal = transitions_of(EXECUTION_TRANSITIONS).get((state.name.lower(), verb.name.lower()))
    e = Execution("e", "a", 0, 1, 1, state=state)
    draft = Draft(Run("run", plan_of("a"), executions={"e": e}), GIVEN)
    if legal is None:
        with pytest.raises(CommandRefused):
            draft.move(e, verb)
        assert draft.run.executions == {"e": e}
        assert (draft.events, draft.effects) == ([], [])
    else:
        assert draft.move(e, verb).state.name.lower() == legal
        assert len(draft.events) == 1


def test_every_cell_of_the_decisions_table() -> None:
    """Each decision has its own status."""
    table = {
        (kind.value, decision): status.value
        for kind, row in transitions.DECISIONS.items()
        for decision, status in row.items()
    }
    assert table == transitions_of(DECISIONS)
    by_gate = {key for key in table if key[0] in ("action", "outcome")}  # decided by `ActionDecided`
    assert {(kind.value, decision) for kind, decision in HANDLERS} == table.keys() - by_gate
    assert transitions.DECISIONS.keys() == set(ApprovalKind)


def test_undo_restores_the_earlier_status_and_requests_a_pause_again() -> None:
    restored = {}
    for before in RunStatus:
        draft = Draft(Run("run", plan_of("a"), RunStatus.IN_PROGRESS), GIVEN)
        draft.restore_run(Rollback("r", 0, 1, before, -1))
        restored[before.value] = (draft.run.status.value, draft.run.pause_requested)
    assert restored == {
        "not_started": ("not_started", False),
        "in_progress": ("in_progress", False),
        "paused": ("in_progress", True),
        "completed": ("completed", False),
        "failed": ("failed", False),
        "cancelled": ("cancelled", False),
    }


def test_run_statuses_change_as_specified() -> None:
    """`RUN_MAY_BECOME` lists the next statuses of each status."""
    shown = {status: set(row.values()) - {status} for status, row in transitions.RUN.items()}
    assert shown == RUN_MAY_BECOME


def test_execution_statuses_change_as_specified() -> None:
    """Ready, working and waiting are all shown as in_progress."""
    shown: dict[ExecutionStatus, set[ExecutionStatus]] = {status: set() for status in ExecutionStatus}
    for state, row in transitions.EXECUTION.items():
        shown[STATUS_OF[state]] |= {STATUS_OF[to] for to in row.values()}
    assert shown == EXECUTION_MAY_BECOME


def test_each_state_has_a_displayed_status() -> None:
    assert {state.name: STATUS_OF[state].value for state in ExecutionState} == {
        "PENDING": "pending",
        "AWAITING_START_APPROVAL": "waiting_approval_to_start",
        "READY": "in_progress",
        "WORKING": "in_progress",
        "WAITING": "in_progress",
        "AWAITING_COMPLETION_APPROVAL": "waiting_approval_to_complete",
        "COMPLETED": "completed",
        "FAILED": "failed",
        "CANCELLED": "cancelled",
    }
    assert ExecutionState.COMPLETED not in LIVE
    assert {ExecutionState.FAILED} == LIVE - OPEN


def test_a_refusal_lists_the_available_transitions_of_a_run() -> None:
    assert {status.value: transitions.available_transitions(status) for status in RunStatus} == {
        "not_started": ("start", "cancel"),
        "in_progress": ("pause", "cancel", "retry", "roll back", "restart"),
        "paused": ("resume", "cancel", "retry", "roll back", "restart"),
        "failed": ("retry", "roll back", "restart"),
        "completed": ("roll back", "restart"),
        "cancelled": ("roll back",),
    }
