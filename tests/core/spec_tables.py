"""The allowed state changes of runs, executions and actions, written by hand to check the code against."""

from __future__ import annotations

from cairn.core.states import ExecutionStatus as E
from cairn.core.states import RunStatus as R

RUN_MAY_BECOME: dict[R, set[R]] = {
    R.NOT_STARTED: {R.IN_PROGRESS, R.CANCELLED},
    R.IN_PROGRESS: {R.PAUSED, R.COMPLETED, R.FAILED, R.CANCELLED},
    R.PAUSED: {R.IN_PROGRESS, R.FAILED, R.CANCELLED},
    R.FAILED: {R.IN_PROGRESS},
    R.COMPLETED: {R.IN_PROGRESS},
    R.CANCELLED: {R.IN_PROGRESS},
}

EXECUTION_MAY_BECOME: dict[E, set[E]] = {
    E.PENDING: {E.WAITING_APPROVAL_TO_START, E.IN_PROGRESS, E.CANCELLED},
    E.WAITING_APPROVAL_TO_START: {E.IN_PROGRESS, E.PENDING, E.FAILED, E.CANCELLED},
    E.IN_PROGRESS: {E.IN_PROGRESS, E.WAITING_APPROVAL_TO_COMPLETE, E.COMPLETED, E.FAILED, E.CANCELLED},
    E.WAITING_APPROVAL_TO_COMPLETE: {E.COMPLETED, E.IN_PROGRESS, E.FAILED, E.CANCELLED},
    E.FAILED: {E.IN_PROGRESS, E.WAITING_APPROVAL_TO_START, E.CANCELLED},
    E.COMPLETED: set(),
    E.CANCELLED: set(),
}

ACTION_TRANSITIONS = """
    proposed     mark_test      test
    proposed     block          refused
    proposed     reuse          reused
    proposed     allow          approved
    proposed     ask            waiting
    proposed     reject         refused
    proposed     withdraw       withdrawn
    proposed     merge          unknown
    waiting      vote           waiting
    waiting      reset_votes    waiting
    waiting      modify         waiting
    waiting      agree          approved
    waiting      allow          approved
    waiting      reuse          reused
    waiting      reject         refused
    waiting      block          refused
    waiting      expire         expired
    waiting      withdraw       withdrawn
    waiting      merge          unknown
    approved     start          started
    approved     hand_over      handed_over
    approved     ask_again      waiting
    approved     reject         refused
    approved     block          refused
    approved     withdraw       withdrawn
    approved     merge          unknown
    started      succeed        done
    started      fail           failed
    started      mark_unknown   unknown
    started      merge          unknown
    handed_over  succeed        done
    handed_over  fail           failed
    handed_over  mark_unknown   unknown
    handed_over  merge          unknown
    unknown      vote           unknown
    unknown      confirm        done
    unknown      deny           failed
    unknown      allow_resend   unknown
    unknown      resend         started
    unknown      hand_over      handed_over
    unknown      revoke_resend  unknown
    unknown      abandon        unknown
    unknown      merge          unknown
    failed       merge          unknown
"""


def transitions_of(text: str) -> dict[tuple[str, str], str]:
    """By state and transition, the next state."""
    return {(a, b): c for a, b, c in (line.split() for line in text.strip().splitlines())}
