"""Check the installation, report problems and repair what can be repaired safely."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from cairn.ports import Clock, JobEngine
from cairn.services.doctor.actions import check_gate, check_journal
from cairn.services.doctor.database import (
    check_blobs,
    check_event_chains,
    check_integrity,
    check_jobs,
    check_references,
    check_schema,
)
from cairn.services.doctor.folders import check_folders, check_unknown_files, repair_folders
from cairn.services.doctor.machine import (
    Machine,
    check_clock,
    check_disk,
    check_permissions,
    check_sandbox,
    check_settings,
    check_versions,
    repair_permissions,
)
from cairn.services.doctor.models import check_models
from cairn.services.doctor.notifications import check_deliveries
from cairn.services.doctor.rules import check_rules
from cairn.services.doctor.secrets import check_secrets
from cairn.services.doctor.tools import check_tools
from cairn.services.doctor.views import HealthCheck, HealthReport
from cairn.services.events.queries import EventQueries
from cairn.services.folders.folder_repair import FolderRepair
from cairn.services.models import ModelService
from cairn.services.retention import Retention
from cairn.services.rules.service import RuleService
from cairn.services.secrets import SecretStore
from cairn.services.tools.queries import ToolQueries
from cairn.store import Database

log = logging.getLogger(__name__)
Check = Callable[[], Sequence[HealthCheck]]


@dataclass(frozen=True)
class Doctor:
    """Safe to use while the server runs: checks only read, and repairs lock the pipelines they change."""

    database: Database
    folder_repair: FolderRepair
    events: EventQueries
    retention: Retention
    jobs: JobEngine
    clock: Clock
    machine: Machine
    rules: RuleService
    secrets: SecretStore
    model_service: ModelService
    tools: ToolQueries
    journal_folder: Path

    async def examine(self) -> HealthReport:
        """Run all checks. Changes nothing."""
        checks = (
            *self._machine_checks(),
            *self._database_checks(),
            lambda: check_folders(self.database, self.folder_repair),
        )
        return self._report(await _run(checks))

    async def repair(self) -> HealthReport:
        """Repair what can be repaired without losing data, then run the other checks."""
        results = [
            *await _run([lambda: repair_permissions(self.machine)]),
            *await repair_folders(self.folder_repair),
        ]
        await self.retention.sweep_blobs()
        repaired = {result.name for result in results}
        others = await _run((*self._machine_checks(), *self._database_checks()))
        return self._report(
            [*results, *(check for check in others if check.name not in repaired or check.status != "ok")]
        )

    def _machine_checks(self) -> tuple[Check, ...]:
        return (
            lambda: check_settings(self.machine),
            lambda: check_versions(self.database),
            lambda: check_disk(self.machine),
            lambda: check_permissions(self.machine),
            lambda: check_sandbox(self.machine),
            lambda: check_rules(self.database, self.rules),
            lambda: check_gate(self.database),
            lambda: check_journal(self.machine, self.journal_folder),
            lambda: check_secrets(self.secrets),
            lambda: check_models(self.model_service.models, self.model_service.fallbacks),
            lambda: check_tools(self.tools),
            lambda: check_clock(self.database, self.clock.now()),
        )

    def _database_checks(self) -> tuple[Check, ...]:
        return (
            lambda: check_schema(self.database),
            lambda: check_integrity(self.database),
            lambda: check_references(self.database),
            lambda: check_blobs(self.database, self.clock.now()),
            lambda: check_jobs(self.database, self.jobs),
            lambda: check_event_chains(self.events),
            lambda: check_deliveries(self.database, self.clock.now()),
            lambda: check_unknown_files(self.database, self.folder_repair),
        )

    def _report(self, checks: list[HealthCheck]) -> HealthReport:
        healthy = all(check.status != "error" for check in checks)
        return HealthReport(checked_at=self.clock.now(), healthy=healthy, checks=checks)


async def _run(checks: Sequence[Check]) -> list[HealthCheck]:
    return [result for check in checks for result in await asyncio.to_thread(_run_check, check)]


def _run_check(check: Check) -> Sequence[HealthCheck]:
    """Run a check. If it raises an error, report that as its result."""
    try:
        return check()
    except Exception as error:
        log.exception("a health check failed")
        reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        return [
            HealthCheck(name="doctor", status="error", detail=f"a check failed: {reason}", hint="see the server's log")
        ]
