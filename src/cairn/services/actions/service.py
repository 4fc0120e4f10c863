"""Decisions of people on actions: vote, modify, refuse, revoke, settle an unknown outcome."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from uuid import UUID

from cairn.core.action import Action
from cairn.core.commands import ActionDecided, ActionResumed, CommandContext
from cairn.core.states import ActionState, ApprovalKind
from cairn.ports.journal import Journal
from cairn.services.actions.ballots import Ballot, CastBallot
from cairn.services.actions.circumstances import CircumstancesReader
from cairn.services.actions.decisions import ActionDecision
from cairn.services.actions.journal import refusal_line
from cairn.services.actors import Actor
from cairn.services.engine.commit import Attachments, Commit
from cairn.services.engine.engine import Engine
from cairn.store import Connection, LoadedRun
from cairn.store.actions import ledger
from cairn.store.errors import NotFound
from cairn.store.events import chain
from cairn.store.runs.loading import load_run


class ActionService:
    def __init__(
        self,
        engine: Engine,
        reader: CircumstancesReader,
        journal: Journal,
        on_end: Callable[[Action], Awaitable[None]],
    ) -> None:
        """`on_end` continues what waited for an action."""
        self._engine = engine
        self._reader = reader
        self._journal = journal
        self._on_end = on_end

    async def decide(
        self, action_id: str, decision: ActionDecision, *, actor: Actor, command_id: UUID | None = None
    ) -> Commit | None:
        """Vote on a waiting action, refuse or revoke it, or settle its unknown outcome.

        None: the run is no longer concerned, because its execution has ended.
        """
        action = await self._engine.database.aread(lambda c: ledger.load_action(c, action_id))
        ballot = Ballot(self._reader, decision, actor)
        context = self._engine.context(actor.name, command_id)
        loaded = await self._find_run(action)
        commit: Commit | None = None
        if loaded is not None and (pending_approval(loaded, action) or waits_for(loaded, action)):
            commit = await self._engine.send(action.run, RunDecision(ballot, action_id), context)
        else:
            await self._decide_alone(action, ballot, context)
        for refusal_id, refusal in ballot.refusals:  # before the answer, so that a restored database learns of it
            await asyncio.to_thread(self._journal.append, refusal_line(refusal_id, refusal))
        ended = await self._engine.database.aread(lambda c: ledger.load_action(c, action_id))
        if not ended.is_open and not ended.is_unsettled:
            await self._on_end(ended)
        return commit

    async def _find_run(self, action: Action) -> LoadedRun | None:
        """The run of the action, unless a restored database lacks it."""
        try:
            return await self._engine.read_run(action.run)
        except NotFound:
            return None

    async def _decide_alone(self, action: Action, ballot: Ballot, context: CommandContext) -> None:
        """Decide on an action whose execution has ended or is lost, such as an unknown outcome."""

        def body(connection: Connection) -> None:
            is_locked = self._engine.database.kind == "postgresql"
            loaded = load_run(connection, action.run, self._engine.plans, lock=is_locked)
            ledger.lock_family(connection, action.place.family)
            current = ledger.load_action(connection, action.id)
            result = ballot.cast(connection, loaded, current, context)
            result.save(connection, current, context)
            for event in result.events:
                if loaded is None:
                    chain.append_global_event(connection, event.type, context.by, context.at, event.metadata)
                else:
                    chain.append_run_event(connection, action.run, event, context.by, context.at)

        async with self._engine.lock(action.run):
            await self._engine.database.transact(body)
            self._engine.forget(action.run)


def pending_approval(loaded: LoadedRun, action: Action) -> str | None:
    """The approval that waits for a decision on the action."""
    kind = ApprovalKind.OUTCOME if action.state is ActionState.UNKNOWN else ApprovalKind.ACTION
    found = (a.id for a in loaded.run.pending_of(action.execution) if a.action == action.id and a.kind is kind)
    return next(found, None)


def waits_for(loaded: LoadedRun, action: Action) -> bool:
    """Whether the execution of the action is part of an open run."""
    return loaded.run.archived_by is None and action.execution in loaded.run.index.open


@dataclass(frozen=True, slots=True)
class RunDecision:
    """Builds the run's command for a decision."""

    ballot: Ballot
    action_id: str

    def __call__(
        self, connection: Connection, before: LoadedRun, context: CommandContext, /
    ) -> tuple[ActionDecided | ActionResumed, Attachments]:
        ledger.lock_family(connection, before.facts.family)
        action = ledger.load_action(connection, self.action_id)
        approval = pending_approval(before, action)
        result = self.ballot.cast(connection, before, action, context)
        writes = (ResultWrite(action, result, context), *result.decision.writes)
        attachments = Attachments(writes=writes, events=result.events)
        if approval is None:
            return ActionResumed(action.execution), attachments
        return result.command(approval), attachments


@dataclass(frozen=True, slots=True)
class ResultWrite:
    """Save the action with the decision of the run."""

    before: Action
    result: CastBallot
    context: CommandContext

    def __call__(self, connection: Connection, _: Commit, /) -> None:
        # What the run did in the same transaction may have ended the action already.
        current = ledger.load_action(connection, self.before.id)
        self.result.save(connection, current, self.context)
