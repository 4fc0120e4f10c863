"""The good ending of every walk: everyone does their part, and nothing may be left open."""

from __future__ import annotations

from contextlib import suppress

from cairn.core.action import Action
from cairn.core.action_votes import EXECUTE_AGAIN, HAPPENED
from cairn.core.errors import CommandRefused
from cairn.core.states import ActionState
from tests.core.gate.walk import Walk

ROUNDS = 400
S = ActionState


def end_well(walk: Walk) -> int:
    """Let everything end. Returns the number of rounds that it took."""
    gate = walk.gate
    gate.groups = {
        "ann": {"approver", "finance"},
        "bob": {"approver", "finance"},
        "cleo": {"approver", "legal"},
        "dora": {"approver"},
        "eve": {"approver", "finance"},
    }
    walk.proposers.eagerness = 0
    for number in range(ROUNDS):
        _one_round(walk)
        walk.witness.check()
        if _is_over(walk):
            return number
    open_actions = [(a.id, a.operation, a.state.value, a.reason) for a in gate.db.actions.values() if _is_open(a)]
    runs = [(r.id, r.status) for r in gate.db.runs.values()]
    raise AssertionError(f"stuck: {open_actions[:4]}, runs {runs}")


def _one_round(walk: Walk) -> None:
    gate = walk.gate
    walk.witness.tick()
    for server in gate.servers:
        walk.boot(server)
    walk.review()
    walk.lift()
    for run in list(gate.db.runs.values()):
        if run.status == "paused":
            gate.set_run(run.id, "in progress")
    for work in list(gate.db.work.values()):
        may_retry = gate.db.runs[work.run].status in ("failed", "in progress")
        if not work.is_archived and work.status in ("failed", "cancelled") and may_retry:
            gate.repeat(work, by_person=True)
    for work_id in list(gate.db.work):
        walk.proposers.step(gate.db.work[work_id])
    for _ in range(8):
        walk.carry()
        walk.send()
    for action_id in list(gate.db.actions):
        for person in gate.groups:
            with suppress(CommandRefused):
                _decide(walk, person, action_id)


def _decide(walk: Walk, person: str, action_id: str) -> None:
    page = walk.view(action_id)
    if page.action.is_unsettled:
        walk.settle(person, page, HAPPENED)
    elif page.action.state is S.WAITING:
        walk.approve(person, page, EXECUTE_AGAIN if page.repeats else None)


def _is_open(a: Action) -> bool:
    return a.is_open or a.is_unsettled or a.state in (S.STARTED, S.HANDED_OVER)


def _is_over(walk: Walk) -> bool:
    runs_ended = all(run.status in ("completed", "cancelled") for run in walk.gate.db.runs.values())
    return runs_ended and not any(map(_is_open, walk.gate.db.actions.values()))
