"""Check that the rules file is active and that the active rules are still valid."""

from __future__ import annotations

from collections.abc import Iterator

from cairn.core.rules import GLOBAL
from cairn.definitions import DefinitionError
from cairn.services.doctor.views import HealthCheck
from cairn.services.rules.service import RuleService
from cairn.store import Connection, Database
from cairn.store import rules as rule_rows


def check_rules(database: Database, service: RuleService) -> list[HealthCheck]:
    warnings = [*_check_file(service), *database.read(lambda c: list(_check_active_rules(c, service)))]
    return warnings or [HealthCheck(name="rules", status="ok", detail="active and valid", hint="")]


def _check_file(service: RuleService) -> Iterator[HealthCheck]:
    path = service.file.path
    for error in service.file.errors[:1]:
        detail = f"{path.name} is invalid, so the previous rules stay active: {error}"
        yield _warning(detail, f"correct {path}, or save the rules again")


def _check_active_rules(connection: Connection, service: RuleService) -> Iterator[HealthCheck]:
    """Saved rules become invalid when users they require are removed."""
    for head in rule_rows.all_active_versions(connection):
        try:
            service.load(connection, rule_rows.text(connection, head.scope, head.revision) or "", head.scope)
        except DefinitionError as error:
            rules = "the global rules" if head.scope == GLOBAL else f"the rules of pipeline {head.scope}"
            yield _warning(f"{rules} are no longer valid: {error.findings[0]}", "correct and save them")


def _warning(detail: str, hint: str) -> HealthCheck:
    return HealthCheck(name="rules", status="warning", detail=detail, hint=hint)
