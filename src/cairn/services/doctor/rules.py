"""Rules: whether the file is what holds, and whether what holds can be met."""

from __future__ import annotations

from collections.abc import Iterator

from cairn.core.rules import GLOBAL
from cairn.definitions import DefinitionError
from cairn.services.doctor.views import HealthCheck
from cairn.services.rules.service import RuleService
from cairn.store import Connection, Database
from cairn.store import rules as rule_rows

WELL = HealthCheck(name="rules", status="ok", detail="what is written is in force", hint="")


def rules(database: Database, service: RuleService) -> list[HealthCheck]:
    found = [*_file(service), *database.read(lambda c: list(_in_force(c, service)))]
    return found or [WELL]


def _file(service: RuleService) -> Iterator[HealthCheck]:
    path = service.file.path
    for fault in service.file.errors[:1]:
        detail = f"{path.name} is not in force, what was before still is: {fault}"
        yield _warning(detail, f"correct {path}, or save the rules anew")


def _in_force(connection: Connection, service: RuleService) -> Iterator[HealthCheck]:
    """A rule may want people who have gone since it was saved."""
    for head in rule_rows.all_active_versions(connection):
        try:
            service.load(connection, rule_rows.text(connection, head.scope, head.revision) or "")
        except DefinitionError as error:
            whose = "the global rules" if head.scope == GLOBAL else f"the rules of pipeline {head.scope}"
            yield _warning(f"{whose} could not be saved today: {error.findings[0]}", "save them anew")


def _warning(detail: str, hint: str) -> HealthCheck:
    return HealthCheck(name="rules", status="warning", detail=detail, hint=hint)
