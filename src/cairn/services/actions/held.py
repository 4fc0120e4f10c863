"""Continue what a stop, a hold or an equal action has held back."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass

from cairn.core.action import Action
from cairn.core.commands import ActionResumed, CommandContext
from cairn.core.errors import CommandRefused
from cairn.core.states import ActionState, ApprovalKind
from cairn.services.actions import event_records
from cairn.services.actions.proposals import ActionProposals, request_of
from cairn.services.actions.sender import read_view
from cairn.services.engine.commit import Attachments
from cairn.services.engine.engine import Engine
from cairn.store import Connection, LoadedRun
from cairn.store.actions import ledger
from cairn.store.errors import NotFound

log = logging.getLogger(__name__)

WORKER = "worker"


class HeldActions:
    def __init__(self, engine: Engine, proposals: ActionProposals) -> None:
        self._engine = engine
        self._proposals = proposals

    async def resume_all(self) -> None:
        """Judge held proposals again, and continue executions whose approved actions were held."""
        await self._resume(await self._engine.database.aread(ledger.held_actions))

    async def resume_after(self, ended: Action) -> None:
        """Continue what waited for this action: its own execution, and equal actions of the family."""
        others = await self._engine.database.aread(lambda c: ledger.held_in_family(c, ended))
        await self._resume([ended, *others])

    async def _resume(self, actions: Sequence[Action]) -> None:
        for action in actions:
            try:
                loaded = await self._engine.read_run(action.run)
                e = loaded.run.executions.get(action.execution)
                if e is not None and e.waiting_on is not None:
                    resumption = Resumption(self._proposals, action.id)
                    await self._engine.send(action.run, resumption, self._engine.context(WORKER))
            except (CommandRefused, NotFound):
                continue  # the run has ended, is archived or was deleted
            except Exception:
                log.exception("action %s could not be continued; it is tried again at the next start", action.id)


@dataclass(frozen=True, slots=True)
class Resumption:
    """Judges a held proposal again, or continues an execution whose action was held."""

    proposals: ActionProposals
    action_id: str

    def __call__(
        self, connection: Connection, before: LoadedRun, context: CommandContext, /
    ) -> tuple[ActionResumed, Attachments]:
        ledger.lock_family(connection, before.facts.family)
        action = ledger.load_action(connection, self.action_id)
        if action.is_unsettled and not action.resend_permitted:
            return self._ask_for_outcome(connection, before, action), Attachments()
        if action.state is not ActionState.PROPOSED:
            return ActionResumed(action.execution), Attachments()
        view = read_view(connection, action)
        judged = self.proposals.judge(connection, before, action, view, context.at)
        ledger.save_action(connection, action, judged.action)
        if judged.action.state is ActionState.PROPOSED:
            return ActionResumed(""), Attachments()
        request = request_of(judged, view.confidence)
        events = (event_records.state_event(judged.action),)
        requests = (request,) if request is not None else ()
        return ActionResumed(action.execution, requests), Attachments(events=events)

    def _ask_for_outcome(self, connection: Connection, before: LoadedRun, action: Action) -> ActionResumed:
        """Ask whether an action happened. Its execution may still wait for its approval in a restored database."""
        pending = [a for a in before.run.pending_of(action.execution) if a.action == action.id]
        if any(a.kind is ApprovalKind.OUTCOME for a in pending):
            return ActionResumed("")
        request = self.proposals.outcome_request(connection, before, action)
        return ActionResumed(action.execution, (request,), tuple(a.id for a in pending))
