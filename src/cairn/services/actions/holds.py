"""The report of an execution that can't continue because of its actions."""

from __future__ import annotations

from dataclasses import dataclass

from cairn.core.commands import ActionHeld, ActionRequest, CommandContext
from cairn.services.actions.sender import ActionSender
from cairn.services.engine.commit import Attachments
from cairn.store import Connection, LoadedRun
from cairn.store.actions import ledger


@dataclass(frozen=True, slots=True)
class Hold:
    """Builds the report from what its transaction sees.

    What held the execution may be over by now. Then it continues at once, because no one else would continue it.
    """

    sender: ActionSender
    held: ActionHeld

    def __call__(
        self, connection: Connection, before: LoadedRun, context: CommandContext, /
    ) -> tuple[ActionHeld, Attachments]:
        execution = self.held.execution
        ledger.lock_family(connection, before.facts.family)
        asked: list[ActionRequest] = []
        reasons = [self.held.reason]
        is_over = True
        for action in ledger.actions_of_execution(connection, execution):
            request = self.sender.open_request(connection, before, action)
            if request is not None:
                asked.append(request)
            elif not self.sender.waits(connection, before, action, context.at):
                continue
            is_over = False
            reasons.append(action.reason)
        reason = next(filter(None, reasons), "")
        return ActionHeld(execution, self.held.dispatch, reason, tuple(asked), is_over), Attachments()
