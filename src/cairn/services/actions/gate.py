"""The state of the gate: stopped by people, or held because the database was restored."""

from __future__ import annotations

import asyncio
import logging

from cairn.core.action_judgment import GateStatus
from cairn.core.errors import CommandRefused
from cairn.ports.journal import Journal, JournalError
from cairn.services.actions import journal as journals
from cairn.services.actions.circumstances import InstallationKey
from cairn.services.actions.held import HeldActions
from cairn.services.actions.installation import installation_id
from cairn.services.actions.journal import MergeReport
from cairn.services.actions.sender import ActionSender
from cairn.services.actors import Actor
from cairn.services.engine.engine import Engine
from cairn.services.secrets import SecretStore
from cairn.store import Connection
from cairn.store.actions import gate_state, ledger
from cairn.store.events import chain

log = logging.getLogger(__name__)

UNREADABLE = "The journal of actions can't be read. An admin has to check it: {error}"
WORKER = "worker"
KEY_NAME = ".actions"  # of the secret; users can't create secrets whose names start with a dot


class Gate:
    def __init__(
        self,
        engine: Engine,
        journal: Journal,
        held: HeldActions,
        sender: ActionSender,
        key: InstallationKey,
        secrets: SecretStore,
    ) -> None:
        self._engine = engine
        self._journal = journal
        self._held = held
        self._sender = sender
        self._key = key
        self._secrets = secrets

    async def start(self) -> MergeReport:
        """Before anything else runs: merge the journal, and mark what an earlier process was sending as unknown."""
        self._journal.select(await installation_id(self._engine.database))
        self._key.set_key(await self._secrets.internal(KEY_NAME))
        report = await self._merge()
        if not report.is_empty:
            log.error("%s", journals.HELD)
        unfinished = await self._engine.database.aread(ledger.unfinished_actions)
        for action in unfinished:
            if not self._sender.is_own(action):
                await self._sender.recover(action)
        return report

    async def _merge(self) -> MergeReport:
        try:
            lines = await asyncio.to_thread(lambda: tuple(self._journal.read()))
        except JournalError as error:
            reason = UNREADABLE.format(error=error)
            await self._engine.database.transact(lambda c: gate_state.hold(c, reason, WORKER, self._engine.clock.now()))
            log.exception("the journal of actions can't be read")
            return MergeReport()
        now = self._engine.clock.now()
        return await self._engine.database.transact(lambda c: journals.merge(c, lines, now))

    async def resume(self) -> None:
        """Continue what was held when the server stopped."""
        await self._held.resume_all()

    def status(self) -> GateStatus:
        return self._engine.database.read(gate_state.read_status)

    async def end_hold(self, actor: Actor) -> None:
        """An admin has reviewed what the restored database lacked."""

        def body(connection: Connection) -> None:
            status, now = gate_state.read_status(connection), self._engine.clock.now()
            if not status.held:
                raise CommandRefused("Actions are not held.")
            gate_state.save_status(connection, GateStatus(status.stop), actor.name, now)
            chain.append_global_event(connection, "actions_released", actor.name, now)

        await self._engine.database.transact(body)
        await self._held.resume_all()
