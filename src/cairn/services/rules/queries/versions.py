"""Rules as texts: what is in force, every version, stops; and why an approval was asked."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

import sqlalchemy as sa

from cairn.core.rules import GLOBAL, Rule, Rulebook
from cairn.definitions import Finding as Found
from cairn.services.paging import SortOrder, page
from cairn.services.pipelines.views import DefinitionFinding
from cairn.services.rules.views import (
    ApprovalExplanation,
    EmergencyStop,
    EmergencyStopPage,
    EvaluatedRule,
    RuleDiff,
    RulesFileStatus,
    RuleSummary,
    RuleText,
    RuleVersion,
    RuleVersionPage,
)
from cairn.store import Connection, pipelines, rules
from cairn.store import tables as t
from cairn.store.errors import NotFound
from cairn.store.runs.run_rows import Row

V, S, A = t.rule_versions.c, t.emergency_stops.c, t.approvals.c
_NEWEST = SortOrder((V.revision,), newest_first=True)
_LAST_STOP = SortOrder((S.number,), newest_first=True)
RUNNING = EmergencyStop(stopped=False, reason="", by=None, at=None)


def current(
    connection: Connection, scope: str, rulebook: Rulebook, warnings: Sequence[Found], file: RulesFileStatus | None
) -> RuleText:
    revision = head(connection, scope)
    row = version_row(connection, scope, revision) if revision else None
    return RuleText(
        scope=scope,
        revision=revision,
        text=row.text if row else "",
        rules=summaries(rulebook),
        author=row.author if row else None,
        comment=row.comment if row else "",
        created_at=row.created_at if row else None,
        warnings=[finding(found) for found in warnings],
        emergency_stop=stop(connection),
        file=file,
    )


def head(connection: Connection, scope: str) -> int:
    """The revision that is in force for a scope that exists."""
    if scope != GLOBAL and not pipelines.exists(connection, scope):
        raise NotFound("pipeline", scope)
    return rules.active_version(connection, scope).revision


def finding(found: Found) -> DefinitionFinding:
    return DefinitionFinding(
        path=found.path, message=found.message, severity=found.severity.value, line=found.line, column=found.column
    )


def summaries(rulebook: Rulebook) -> list[RuleSummary]:
    return [summary(rule) for rule in rulebook.rules]


def summary(rule: Rule) -> RuleSummary:
    return RuleSummary(
        name=rule.name,
        section=rule.section.value,
        priority=rule.priority,
        enabled=rule.enabled,
        shadow=rule.shadow,
        auto_approves=rule.approves,
        rollout_percentage=rule.rollout,
        audit_sample_percentage=rule.audit,
    )


# ---- versions ------------------------------------------------------------------------------------------
def versions(connection: Connection, scope: str, limit: int, cursor: str | None) -> RuleVersionPage:
    head(connection, scope)
    found = page(connection, sa.select(t.rule_versions).where(V.scope == scope), _NEWEST, limit, cursor)
    return RuleVersionPage(items=[_version(row) for row in found.rows], next_cursor=found.next_cursor)


def version(connection: Connection, scope: str, revision: int) -> RuleVersion:
    head(connection, scope)
    return _version(version_row(connection, scope, revision))


def version_row(connection: Connection, scope: str, revision: int) -> Row:
    row = connection.execute(sa.select(t.rule_versions).where(V.scope == scope, V.revision == revision)).one_or_none()
    if row is None:
        raise NotFound("revision of these rules", str(revision))
    return row


def _version(row: Row) -> RuleVersion:
    return RuleVersion(
        scope=row.scope,
        revision=row.revision,
        author=row.author,
        comment=row.comment,
        created_at=row.created_at,
        digest=row.digest,
        text=row.text,
    )


def compare(connection: Connection, scope: str, before: int, after: int) -> RuleDiff:
    texts = [version(connection, scope, revision).text.splitlines(keepends=True) for revision in (before, after)]
    names = (f"revision {before}", f"revision {after}")
    told = "".join(difflib.unified_diff(*texts, fromfile=names[0], tofile=names[1]))
    return RuleDiff(from_revision=before, to_revision=after, text=told)


# ---- stops ---------------------------------------------------------------------------------------------
def stop(connection: Connection) -> EmergencyStop:
    row = connection.execute(sa.select(t.emergency_stops).order_by(S.number.desc()).limit(1)).one_or_none()
    return _stop(row) if row else RUNNING


def stops(connection: Connection, limit: int, cursor: str | None) -> EmergencyStopPage:
    found = page(connection, sa.select(t.emergency_stops), _LAST_STOP, limit, cursor)
    return EmergencyStopPage(items=[_stop(row) for row in found.rows], next_cursor=found.next_cursor)


def _stop(row: Row) -> EmergencyStop:
    return EmergencyStop(stopped=row.stopped, reason=row.reason, by=row.by, at=row.at)


# ---- why -----------------------------------------------------------------------------------------------
def explain(connection: Connection, approval_id: str) -> ApprovalExplanation:
    """Which rule decided, and why each other one did not, as it was when it was asked."""
    row = connection.execute(
        sa.select(A.kind, A.status, A.rule, A.rule_scope, A.rules_revision, A.evaluated_rules, A.reused_from).where(
            A.approval_id == approval_id
        )
    ).one_or_none()
    if row is None:
        raise NotFound("approval", approval_id)
    evaluated_rules = [EvaluatedRule.model_validate(one) for one in row.evaluated_rules or ()]
    return ApprovalExplanation(
        approval_id=approval_id,
        kind=row.kind,
        status=row.status,
        rule=row.rule,
        scope=row.rule_scope,
        rules_revision=row.rules_revision,
        reason=_reason(row, evaluated_rules),
        evaluated_rules=evaluated_rules,
    )


def _reason(row: Row, evaluated_rules: list[EvaluatedRule]) -> str:
    if row.reused_from is not None:
        return "The same content was approved before."
    if row.rule is None:
        none = "No rule matches" if evaluated_rules else "No rules were in force"
        what = "what is of low risk passes" if row.status == "auto_approved" else "the checkpoint's own settings hold"
        return f"{none}: {what}."
    whose = "global rules" if row.rule_scope == GLOBAL else "pipeline's rules"
    of = f"'{row.rule}' of the {whose}, revision {row.rules_revision}"
    won = next((one for one in evaluated_rules if (one.rule, one.scope) == (row.rule, row.rule_scope)), None)
    if row.status == "auto_approved":
        return f"{of}, approves." if won else f"{of}, approves, and keeps no reasons."
    if won is not None and won.outcome != "asks":
        return f"{of}, would approve, and is held back: {won.outcome}."
    return f"{of}, asks."
