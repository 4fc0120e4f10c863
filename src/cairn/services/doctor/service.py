"""Looks at everything that can be wrong, says how it stands and what to do; puts right what is safe to."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from cairn.ports import Clock, JobEngine
from cairn.services.doctor import database, machine
from cairn.services.doctor import folders as files
from cairn.services.doctor import notifications as notices
from cairn.services.doctor.machine import Machine
from cairn.services.doctor.models import models as look_at_models
from cairn.services.doctor.rules import rules as look_at_rules
from cairn.services.doctor.secrets import secrets as look_at_secrets
from cairn.services.doctor.views import HealthCheck, HealthReport
from cairn.services.events.queries import EventQueries
from cairn.services.folders.folder_repair import FolderRepair
from cairn.services.models import ModelService
from cairn.services.retention import Retention
from cairn.services.rules.service import RuleService
from cairn.services.secrets import SecretStore
from cairn.store import Database

log = logging.getLogger(__name__)
Look = Callable[[], Sequence[HealthCheck]]


@dataclass(frozen=True)
class Doctor:
    """Safe beside everything else: looking only reads, and repairing waits for whoever acts on a pipeline."""

    database: Database
    folder_repair: FolderRepair
    events: EventQueries
    retention: Retention
    jobs: JobEngine
    clock: Clock
    machine: Machine
    rules: RuleService
    secrets: SecretStore
    known_models: ModelService

    async def examine(self) -> HealthReport:
        """Nothing is changed."""
        looks = (*self._around(), *self._in_database(), lambda: files.folders(self.database, self.folder_repair))
        return self._diagnosis([found for look in looks for found in await asyncio.to_thread(_looked, look)])

    async def repair(self) -> HealthReport:
        """Put right what differs and can be put right without a loss, and say what is left."""
        done = [
            *await asyncio.to_thread(_looked, lambda: machine.close_to_others(self.machine)),
            *await files.mend(self.folder_repair),
        ]
        await self.retention.sweep_contents()
        looks = (*self._around(), *self._in_database())
        found = [one for look in looks for one in await asyncio.to_thread(_looked, look)]
        repaired = {one.name for one in done}
        return self._diagnosis([*done, *(one for one in found if one.name not in repaired or one.status != "ok")])

    def _around(self) -> tuple[Look, ...]:
        return (
            lambda: machine.settings(self.machine),
            lambda: machine.versions(self.database),
            lambda: machine.disk(self.machine),
            lambda: machine.permissions(self.machine),
            lambda: machine.sandbox(self.machine),
            lambda: look_at_rules(self.database, self.rules),
            lambda: look_at_secrets(self.secrets),
            lambda: look_at_models(self.known_models.models, self.known_models.fallbacks),
            lambda: machine.clock(self.database, self.clock.now()),
        )

    def _in_database(self) -> tuple[Look, ...]:
        return (
            lambda: database.schema(self.database),
            lambda: database.integrity(self.database),
            lambda: database.rows(self.database),
            lambda: database.contents(self.database, self.clock.now()),
            lambda: database.engine(self.database, self.jobs),
            lambda: database.event_chains(self.events),
            lambda: notices.deliveries(self.database, self.clock.now()),
            lambda: files.strangers(self.database, self.folder_repair),
        )

    def _diagnosis(self, checks: list[HealthCheck]) -> HealthReport:
        healthy = all(check.status != "error" for check in checks)
        return HealthReport(checked_at=self.clock.now(), healthy=healthy, checks=checks)


def _looked(look: Look) -> Sequence[HealthCheck]:
    """What cannot be looked at is a fault of its own, and the rest is looked at all the same."""
    try:
        return look()
    except Exception as error:
        log.exception("a check could not be made")
        told = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        hint = "see the server's log"
        return [HealthCheck(name="doctor", status="error", detail=f"a check could not be made: {told}", hint=hint)]
