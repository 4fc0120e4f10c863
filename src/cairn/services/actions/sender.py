"""Start approved actions, send each at most once, and save what came of it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple, Protocol

from cairn.core.action import Action
from cairn.core.action_judgment import Circumstances, Judgment
from cairn.core.action_start import StartState, StartVerdict, check_start
from cairn.core.action_transitions import ActionTransition, move
from cairn.core.action_votes import with_requirements
from cairn.core.commands import ActionHeld, ActionRequest
from cairn.core.execution import Execution
from cairn.core.states import CLOSED, OPEN, ActionState, RunStatus
from cairn.ports.journal import Journal, JournalError
from cairn.services.actions import approval_requests, event_records
from cairn.services.actions.circumstances import (
    ActionView,
    CircumstancesReader,
    InstallationKey,
    limit_use,
    read_electorate,
)
from cairn.services.actions.journal import start_line
from cairn.services.actions.transports import SentAction
from cairn.services.engine.engine import Engine
from cairn.store import Connection, Database, LoadedRun
from cairn.store.actions import gate_state, ledger
from cairn.store.events import chain

log = logging.getLogger(__name__)

WORKER = "worker"
UNKNOWN = "The outcome of an action is unknown."
MAX_RESENDS = 3  # of actions whose receiver ignores a repeated key
RESEND_DELAY = 1.0  # seconds, doubled each time


class Carrier(Protocol):
    """Sends resolved requests."""

    async def send(self, action: Action, content: Mapping[str, Any], key: str) -> SentAction: ...

    def blocked(self, connection: Connection, loaded: LoadedRun, action: Action) -> str:
        """Why the action is no longer allowed: its type, host, secret or tool. Empty if it is."""
        ...


@dataclass(frozen=True, slots=True)
class StartedAction:
    """An action whose start is recorded, with the request to send."""

    action: Action
    content: Mapping[str, Any]
    key: str


class CurrentCheck(NamedTuple):
    """Whether an action may start now, and what that depends on."""

    verdict: StartVerdict
    reason: str
    circumstances: Circumstances
    view: ActionView


class ActionSender:
    def __init__(
        self,
        engine: Engine,
        reader: CircumstancesReader,
        key: InstallationKey,
        carrier: Carrier,
        journal: Journal,
        incarnation: str,
        on_outcome: Callable[[Connection, str], object],
    ) -> None:
        """`incarnation` identifies this server process. `on_outcome` is called with the approval of an ended action."""
        self._engine = engine
        self._reader = reader
        self._key = key
        self._carrier = carrier
        self._journal = journal
        self._incarnation = incarnation
        self._on_outcome = on_outcome
        self.on_end: Callable[[Action], Awaitable[None]] = _do_nothing  # continues what waited for the action

    @property
    def database(self) -> Database:
        return self._engine.database

    def is_own(self, action: Action) -> bool:
        """Whether this process started the action."""
        return action.owner == self._incarnation

    async def recover(self, action: Action) -> None:
        """An earlier process was sending the action when it ended. A receiver that knows the key gets it again."""
        if action.is_idempotent:
            content = await self._engine.database.aread(lambda c: ledger.content_of(c, action.id))
            await self._engine.shielded(self._send(StartedAction(action, content, self._key.idempotency_key(action))))
        else:
            await self.mark_unknown(action, "The server stopped while the action was being sent.")

    # Before an execution continues
    async def prepare(self, loaded: LoadedRun, e: Execution) -> ActionHeld | None:
        """Carry out the approved actions of an execution. Return why it can't continue, or None."""
        if not e.has_actions:
            return None
        for action in await self._engine.database.aread(lambda c: ledger.actions_of_execution(c, e.id)):
            held = await self._advance(loaded, e, action)
            if held is not None:
                return held
        return None

    async def _advance(self, loaded: LoadedRun, e: Execution, action: Action) -> ActionHeld | None:
        match action.state:
            case ActionState.HANDED_OVER:
                reason = "The work was interrupted after it got the approved parameters."
                action = await self.mark_unknown(action, reason)
            case ActionState.STARTED if action.owner != self._incarnation:
                action = await self.mark_unknown(action, "The server stopped while the action was being sent.")
            case ActionState.APPROVED if not action.is_handed_over:
                return await self._start_and_send(loaded, e, action)
            case ActionState.STARTED:
                return held(e, "An action is still being sent.")
            case ActionState.PROPOSED | ActionState.WAITING:
                return held(e, action.reason)
            case _:
                pass
        if not action.is_unsettled:
            return None
        if action.resend_permitted and not action.is_handed_over:
            return await self._start_and_send(loaded, e, action)
        if action.resend_permitted:
            return None  # handed over again at the call
        return held(e, UNKNOWN)

    async def _start_and_send(self, loaded: LoadedRun, e: Execution, action: Action) -> ActionHeld | None:
        started = await self.start(loaded, action.id)
        if started is None:
            return held(e)
        # Stopping the execution does not stop the request: its outcome is still recorded.
        await self._engine.shielded(self._send(started))
        return held(e, UNKNOWN) if (await self._current(action.id)).is_unsettled else None

    def waits(self, connection: Connection, loaded: LoadedRun, action: Action, at: datetime) -> bool:
        """Whether an execution can't continue because of this action, apart from decisions of people."""
        if action.state in (ActionState.PROPOSED, ActionState.STARTED):
            return True
        if not can_start(action):
            return False
        return self._check(connection, loaded, action, at).verdict is StartVerdict.HOLD

    def open_request(self, connection: Connection, loaded: LoadedRun, action: Action) -> ActionRequest | None:
        """The decision that people have to make on an action now."""
        now = self._engine.clock.now()
        if action.is_unsettled and not action.resend_permitted:
            history = self._reader.history(connection, loaded, action)
            return approval_requests.outcome_request(action, history, action.reason)
        if action.state is ActionState.WAITING:
            view = read_view(connection, action)
            c = self._reader.read(connection, loaded, action, view, now)
            return approval_requests.approval_request(action, Judgment(reason=action.reason), c, view.confidence)
        return None

    # Starting
    async def start(self, loaded: LoadedRun, action_id: str) -> StartedAction | None:
        """Check an approved action once more, and record its start in the database and in the journal.

        None: it may not start now. Then it is still approved, people are asked again, or it has ended.
        """
        run_id = loaded.facts.run_id
        async with self._engine.lock(run_id):
            started, events = await self._engine.database.transact(lambda c: self._record_start(c, run_id, action_id))
            if events:
                self._engine.forget(run_id)
        if started is None:
            return None
        line = start_line(started.action, loaded.facts.pipeline_id, self._journal.id, self._engine.clock.now())
        try:
            await asyncio.to_thread(self._journal.append, line)
        except JournalError as error:
            result = {"error": f"Not sent, because the journal can't be written: {error}"}
            await self.finish(started.action.id, SentAction("failed", result))
            return None
        return started

    def _record_start(
        self, connection: Connection, run_id: str, action_id: str
    ) -> tuple[StartedAction | None, list[chain.EventRecord]]:
        now = self._engine.clock.now()
        loaded = self._engine.load(connection, run_id)
        ledger.lock_family(connection, loaded.facts.family)
        action = ledger.load_action(connection, action_id)
        if not can_start(action):
            return None, []
        content, check = ledger.content_of(connection, action.id), self._check(connection, loaded, action, now)
        after = self._after_check(connection, action, check, now)
        details: dict[str, Any] = {}
        if after.state in (ActionState.STARTED, ActionState.HANDED_OVER):
            details = {"started_at": now, "journal_id": self._journal.id}
        ledger.save_action(connection, action, after, **details)
        events = [event_records.state_event(after)] if after.state is not action.state else []
        for event in events:
            chain.append_run_event(connection, run_id, event, WORKER, now)
        if after.state not in (ActionState.STARTED, ActionState.HANDED_OVER):
            return None, events
        return StartedAction(after, content, self._key.idempotency_key(after)), events

    def _check(self, connection: Connection, loaded: LoadedRun, action: Action, at: datetime) -> CurrentCheck:
        view = read_view(connection, action)
        c = self._reader.read(connection, loaded, action, view, at)
        state = StartState(
            at,
            self._is_current(connection, loaded, action),
            loaded.run.status is RunStatus.IN_PROGRESS,
            self._carrier.blocked(connection, loaded, action),
        )
        verdict, reason = check_start(action, state, c, read_electorate(connection, loaded.facts.family, at))
        return CurrentCheck(verdict, reason, c, view)

    def _after_check(self, connection: Connection, action: Action, check: CurrentCheck, now: datetime) -> Action:
        verdict, reason, c, view = check
        is_resend = action.state is ActionState.UNKNOWN
        match verdict:
            case StartVerdict.START:
                transition = ActionTransition.HAND_OVER if action.is_handed_over else ActionTransition.START
                if is_resend and not action.is_handed_over:
                    transition = ActionTransition.RESEND
                moved = move(
                    action,
                    transition,
                    reason="",
                    resend_permitted=False,
                    votes=tuple(v for v in action.votes if v.choice == "approve"),
                    sends=action.sends + 1,
                    start_seq=gate_state.next_start(connection, self._journal.id),
                    owner=self._incarnation,
                )
                return self._in_current_window(moved, c, view, now)
            case StartVerdict.HOLD:
                return action.replace(reason=reason)
            case _ if is_resend:
                votes = tuple(v for v in action.votes if v.choice == "approve")
                return move(action, ActionTransition.REVOKE_RESEND, reason=reason, resend_permitted=False, votes=votes)
            case StartVerdict.ASK | StartVerdict.ASK_AFRESH:
                votes = () if verdict is StartVerdict.ASK_AFRESH else action.votes
                asked = move(
                    action,
                    ActionTransition.ASK_AGAIN,
                    reason=reason,
                    approved_by="",
                    approved_until=None,
                    occurrence=None,
                    limit_use=None,
                    votes=votes,
                )
                return with_requirements(asked, c.rules.asking)
            case StartVerdict.BLOCK:
                return move(action, ActionTransition.BLOCK, reason=reason, limit_use=None)
            case StartVerdict.WITHDRAW:
                return move(action, ActionTransition.WITHDRAW, reason=reason, limit_use=None)

    def _in_current_window(self, action: Action, c: Circumstances, view: ActionView, now: datetime) -> Action:
        """Count the approval of a rule in the hour or day of the start."""
        rule = next((r for r in c.rules.approving if r.rule_id == action.rule), None)
        return action if rule is None else action.replace(limit_use=limit_use(rule, action, view.currency, now))

    def _is_current(self, connection: Connection, loaded: LoadedRun, action: Action) -> bool:
        e = loaded.run.executions.get(action.execution)
        if e is None or e.archived_by is not None or e.state not in OPEN:
            return False
        if loaded.run.status in CLOSED or loaded.run.archived_by is not None:
            return False
        return ledger.generation(connection, action.place) == action.generation

    # Sending
    async def _send(self, started: StartedAction) -> None:
        action = started.action
        sent = await self._carrier.send(action, started.content, started.key)
        attempt = 1
        while sent.state == "unknown" and action.is_idempotent and attempt <= MAX_RESENDS:
            await asyncio.sleep(RESEND_DELAY * 2 ** (attempt - 1))
            sent = await self._carrier.send(action, started.content, started.key)
            attempt += 1
        await self.finish(action.id, sent)

    async def finish(self, action_id: str, sent: SentAction, *, reported_by: str = "sender") -> Action | None:
        """Save the outcome. It works on the action alone, so it succeeds even if its execution has been archived."""
        transitions = {
            "done": ActionTransition.SUCCEED,
            "failed": ActionTransition.FAIL,
            "unknown": ActionTransition.MARK_UNKNOWN,
        }

        def change(action: Action) -> Action | None:
            if action.state not in (ActionState.STARTED, ActionState.HANDED_OVER):
                return None
            transition = transitions[sent.state]
            if transition is ActionTransition.FAIL and action.was_unknown:
                transition = ActionTransition.MARK_UNKNOWN  # an earlier attempt may have done it
            return _ended(action, transition, sent, reported_by)

        return await self._change(action_id, change)

    async def mark_unknown(self, action: Action, reason: str) -> Action:
        def change(current: Action) -> Action | None:
            if current.state not in (ActionState.STARTED, ActionState.HANDED_OVER):
                return None
            sent = SentAction("unknown", {"error": reason})
            return _ended(current, ActionTransition.MARK_UNKNOWN, sent, "")

        changed = await self._change(action.id, change)
        return changed if changed is not None else await self._current(action.id)

    async def _current(self, action_id: str) -> Action:
        return await self._engine.database.aread(lambda c: ledger.load_action(c, action_id))

    async def _change(self, action_id: str, change: Callable[[Action], Action | None]) -> Action | None:
        now = self._engine.clock.now()
        run_id = (await self._current(action_id)).run

        def body(connection: Connection) -> Action | None:
            action = ledger.load_action(connection, action_id)
            ledger.lock_family(connection, action.place.family)
            after = change(ledger.load_action(connection, action_id))
            if after is None:
                return None
            ledger.save_action(connection, action, after, ended_at=now)
            chain.append_run_event(connection, run_id, event_records.state_event(after), WORKER, now)
            if approval := ledger.approval_of(connection, action_id):
                self._on_outcome(connection, approval)
            return after

        async with self._engine.lock(run_id):
            after = await self._engine.database.transact(body)
            self._engine.forget(run_id)
        if after is not None:
            await self.on_end(after)
        return after


def can_start(action: Action) -> bool:
    """Whether the action is approved, or may be sent again."""
    return action.state is ActionState.APPROVED or (action.is_unsettled and action.resend_permitted)


def held(e: Execution, reason: str = "") -> ActionHeld:
    return ActionHeld(e.id, e.dispatch, reason)


async def _do_nothing(_: Action) -> None:
    pass


def _ended(action: Action, transition: ActionTransition, sent: SentAction, reported_by: str) -> Action:
    is_unknown = transition is ActionTransition.MARK_UNKNOWN
    return move(
        action,
        transition,
        reason=str(sent.result.get("error", "")),
        result=dict(sent.result),
        reported_by=reported_by,
        answered=reported_by == "proposer" or "error" not in sent.result,
        was_unknown=action.was_unknown or is_unknown,
        limit_use=None if transition is ActionTransition.FAIL else action.limit_use,
        votes=tuple(v for v in action.votes if v.choice == "approve"),
    )


def read_view(connection: Connection, action: Action) -> ActionView:
    """What rules read about a stored action."""
    row = ledger.details_of(connection, action.id)
    content: dict[str, Any] = row.content or {}
    facts: dict[str, Any] = row.facts or {}
    return ActionView(content, facts, row.confidence, row.currency)
