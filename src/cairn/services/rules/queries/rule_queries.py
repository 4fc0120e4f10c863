"""Queries of rules: each method reads one snapshot of the database."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta

import sqlalchemy as sa

from cairn.core.rules import GLOBAL
from cairn.definitions import Finding
from cairn.ports import Clock
from cairn.services.rules.active_rules import ActiveRules
from cairn.services.rules.backtests import BacktestOutcome, most_used
from cairn.services.rules.operations import OperationLookup
from cairn.services.rules.queries import autonomy, versions
from cairn.services.rules.rules_file import RulesFileWatcher
from cairn.services.rules.views import (
    ApprovalExplanation,
    Audit,
    AuditPage,
    Autonomy,
    Backtest,
    Disagreement,
    EmergencyStop,
    EmergencyStopPage,
    RuleDiff,
    RuleScore,
    RulesFileStatus,
    RuleText,
    RuleVersion,
    RuleVersionPage,
)
from cairn.store import Connection, Database
from cairn.store import rules as rule_rows
from cairn.store import tables as t
from cairn.store.runs.run_rows import Row

D = t.approval_decisions.c


class RuleQueries:
    def __init__(
        self,
        database: Database,
        active_rules: ActiveRules,
        operations: OperationLookup,
        file: RulesFileWatcher,
        clock: Clock,
    ) -> None:
        self._database = database
        self._active_rules = active_rules
        self._operations = operations
        self._file = file
        self._clock = clock

    def get_rules(self, scope: str, warnings: Iterable[Finding] = ()) -> RuleText:
        """The active rules of a scope."""
        file = None
        if scope == GLOBAL:
            errors = [versions.finding_view(finding) for finding in self._file.errors]
            file = RulesFileStatus(path=str(self._file.path), errors=errors)

        def read(connection: Connection) -> RuleText:
            revision = versions.active_revision(connection, scope)
            rulebook = self._active_rules.rulebook(connection, scope, revision)
            rules = versions.summaries(rulebook, self._operations.find(connection, scope))
            return versions.active_rules(connection, scope, rules, tuple(warnings), file)

        return self._database.read(read)

    def list_versions(self, scope: str, limit: int, cursor: str | None) -> RuleVersionPage:
        return self._database.read(lambda c: versions.list_versions(c, scope, limit, cursor))

    def get_version(self, scope: str, revision: int) -> RuleVersion:
        return self._database.read(lambda c: versions.get_version(c, scope, revision))

    def compare(self, scope: str, before: int, after: int) -> RuleDiff:
        return self._database.read(lambda c: versions.compare(c, scope, before, after))

    def get_emergency_stop(self) -> EmergencyStop:
        return self._database.read(versions.get_emergency_stop)

    def list_emergency_stops(self, limit: int, cursor: str | None) -> EmergencyStopPage:
        return self._database.read(lambda c: versions.list_emergency_stops(c, limit, cursor))

    def explain(self, approval_id: str) -> ApprovalExplanation:
        return self._database.read(lambda c: versions.explain(c, approval_id))

    def get_autonomy(self, days: int) -> Autonomy:
        since = self._clock.now() - timedelta(days=days)

        def read(connection: Connection) -> Autonomy:
            books = self._active_rules.rulebooks(connection, rule_rows.all_active_versions(connection))
            return autonomy.read_autonomy(connection, books, since)

        return self._database.read(read)

    def list_audits(self, reviewed: bool | None, pipeline_id: str | None, limit: int, cursor: str | None) -> AuditPage:
        return self._database.read(
            lambda c: autonomy.list_audits(c, reviewed=reviewed, pipeline_id=pipeline_id, limit=limit, cursor=cursor)
        )

    def get_audit(self, approval_id: str) -> Audit:
        return self._database.read(lambda c: autonomy.get_audit(c, approval_id))

    def backtest_result(self, outcome: BacktestOutcome) -> Backtest:
        """The result of a backtest, with the feedback of users who disagreed."""
        rows = [row for _, _, row in outcome.disagreements]
        votes = self._database.read(lambda c: _last_votes(c, [row.approval_id for row in rows]))
        agreed, disagreed = outcome.agreed, outcome.disagreed
        return Backtest(
            decisions=outcome.decisions,
            would_approve=agreed + disagreed,
            would_require_approval=outcome.required_approval,
            no_rule=outcome.no_rule,
            agreed=agreed,
            disagreed=disagreed,
            false_approval_rate=autonomy.proportion_view(outcome.false_approval_rate),
            rules=[
                RuleScore(
                    rule=rule,
                    approved=tally.agreed + tally.disagreed,
                    agreed=tally.agreed,
                    disagreed=tally.disagreed,
                    required_approval=tally.required_approval,
                    false_approval_rate=autonomy.proportion_view(tally.false_approval_rate),
                )
                for rule, tally in most_used(outcome.rules)
            ],
            disagreements=[
                _disagreement(rule, decision, row, votes.get(row.approval_id))
                for rule, decision, row in outcome.disagreements
            ],
            since=outcome.since,
            until=outcome.until,
            complete=outcome.complete,
        )


def _last_votes(connection: Connection, approvals: list[str]) -> dict[str, Row]:
    query = sa.select(D.approval_id, D.by, D.feedback).where(D.approval_id.in_(approvals)).order_by(D.position)
    return {row.approval_id: row for row in connection.execute(query)}


def _disagreement(rule: str, decision: str, row: Row, vote: Row | None) -> Disagreement:
    return Disagreement(
        approval_id=row.approval_id,
        pipeline_id=row.pipeline_id,
        pipeline_name=row.pipeline_name,
        checkpoint_name=row.checkpoint_name,
        kind=row.kind,
        operation_type=row.operation_type,
        requested_at=row.requested_at,
        rule=rule,
        decision=decision,
        by=vote.by if vote else "",
        feedback=vote.feedback if vote else "",
    )
