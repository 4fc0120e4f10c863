"""Actions follow their run: repeated, archived and ended work starts a new generation and withdraws open actions."""

from __future__ import annotations

from collections.abc import Iterator

from cairn.core.action import Action
from cairn.core.action_transitions import ActionTransition, move
from cairn.core.execution import Execution
from cairn.core.states import OPEN, ActionState, ApprovalStatus
from cairn.services.actions import event_records
from cairn.services.engine.commit import Commit
from cairn.store import Connection
from cairn.store.actions import ledger

WORKER = "worker"


class ActionsFollowRun:
    """A write of every commit. It costs nothing unless an execution with actions has changed."""

    def __call__(self, connection: Connection, commit: Commit, /) -> None:
        _link_approvals(connection, commit)
        changed, repeated = [e for e in _changed(commit) if e.has_actions], _repeated_checkpoints(commit)
        if not changed and not repeated:
            return
        ledger.lock_family(connection, commit.after.facts.family)
        for e in changed:
            self._follow(connection, commit, e)
        for place in ledger.places_of(connection, commit.after.facts.family, repeated) if repeated else ():
            ledger.raise_generation(connection, place)

    def _follow(self, connection: Connection, commit: Commit, e: Execution) -> None:
        before = commit.before.run.executions.get(e.id)
        if before is None:
            return
        repeated = _is_repeated(commit, before, e)
        if repeated:
            self._raise_generations(connection, commit, e)
        if repeated or e.state not in OPEN or e.archived_by is not None:
            reason = "Its work is being repeated." if repeated else "Its execution has ended."
            for action in ledger.actions_of_execution(connection, e.id):
                end_open_action(connection, commit, action, reason)

    def _raise_generations(self, connection: Connection, commit: Commit, e: Execution) -> None:
        family, checkpoint = commit.after.facts.family, commit.after.places[e.key].checkpoint_id
        for place in ledger.places_of(connection, family, [checkpoint]):
            if is_retry_by_person(commit, e):
                ledger.clear_refusals(connection, place, commit.context.at)
            else:
                ledger.raise_generation(connection, place)


def is_retry_by_person(commit: Commit, e: Execution) -> bool:
    before = commit.before.run.executions.get(e.id)
    return before is not None and before.attempt != e.attempt and commit.context.by != WORKER


def _changed(commit: Commit) -> Iterator[Execution]:
    before = commit.before.run.executions
    if commit.before.run.executions is commit.after.run.executions:
        return
    for id, e in commit.after.run.executions.items():
        if before.get(id) is not e:
            yield e


def _repeated_checkpoints(commit: Commit) -> set[str]:
    """Checkpoints with a new execution, if an earlier one of the run has actions."""
    before, after = commit.before.run.executions, commit.after.run.executions
    if len(before) == len(after):
        return set()
    keys = {e.key for id, e in after.items() if id not in before}
    with_actions = {e.key for e in before.values() if e.has_actions}
    return {commit.after.places[key].checkpoint_id for key in keys & with_actions}


def _is_repeated(commit: Commit, before: Execution, e: Execution) -> bool:
    """Whether the work of this execution is done anew, by itself or by a newer execution of its checkpoint."""
    if (before.attempt, before.revision) != (e.attempt, e.revision):
        return True
    return before.archived_by is None and e.archived_by is not None


def end_open_action(connection: Connection, commit: Commit, action: Action, reason: str) -> None:
    """Withdraw an action that was not started. What a stopped process did with its parameters is unknown."""
    after = _ended(action, reason, commit)
    if after is None:
        return
    ledger.save_action(connection, action, after, ended_at=commit.context.at)
    if after.state is not action.state:
        commit.late_events.append(event_records.state_event(after))


def _ended(action: Action, reason: str, commit: Commit) -> Action | None:
    if action.is_open:
        is_expired = _has_expired(action, commit)
        transition = ActionTransition.EXPIRE if is_expired else ActionTransition.WITHDRAW
        text = "No decision was made in time." if is_expired else reason
        return move(action, transition, reason=text, limit_use=None)
    if action.state is ActionState.HANDED_OVER:
        return move(action, ActionTransition.MARK_UNKNOWN, reason=reason, was_unknown=True)
    if action.resend_permitted:
        return move(action, ActionTransition.REVOKE_RESEND, reason=reason, resend_permitted=False)
    return None


def _has_expired(action: Action, commit: Commit) -> bool:
    """Whether this commit closed the approval of the action because no one decided in time."""
    return action.state is ActionState.WAITING and any(
        a.action == action.id and a.status is ApprovalStatus.TIMEOUT and a.closed_at == commit.context.at
        for a in commit.after.run.approvals.values()
    )


def _link_approvals(connection: Connection, commit: Commit) -> None:
    before = commit.before.run.approvals
    if before is commit.after.run.approvals:
        return
    for id, a in commit.after.run.approvals.items():
        if id not in before and a.action is not None:
            ledger.set_approval(connection, a.action, id)


def repeat_family(connection: Connection, family: str) -> None:
    """Start the next generation at every place of a family, because a run of it is retried."""
    ledger.lock_family(connection, family)
    for place in ledger.places_of(connection, family):
        ledger.raise_generation(connection, place)
