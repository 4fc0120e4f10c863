"""Queries of rules: the active text, versions, emergency stops and explanations of approvals."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

import sqlalchemy as sa

from cairn.core.rules import GLOBAL, REQUIRES_APPROVAL, Rule, Rulebook
from cairn.core.states import ApprovalStatus
from cairn.definitions import Finding
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
_NEWEST_STOP = SortOrder((S.number,), newest_first=True)
_NOT_STOPPED = EmergencyStop(stopped=False, reason="", by=None, at=None)


def active_rules(
    connection: Connection, scope: str, rulebook: Rulebook, warnings: Sequence[Finding], file: RulesFileStatus | None
) -> RuleText:
    revision = active_revision(connection, scope)
    row = version_row(connection, scope, revision) if revision else None
    return RuleText(
        scope=scope,
        revision=revision,
        text=row.text if row else "",
        rules=summaries(rulebook),
        created_by=row.created_by if row else None,
        comment=row.comment if row else "",
        created_at=row.created_at if row else None,
        warnings=[finding_view(finding) for finding in warnings],
        emergency_stop=get_emergency_stop(connection),
        file=file,
    )


def active_revision(connection: Connection, scope: str) -> int:
    """The active revision of a scope. Raises NotFound if the scope does not exist."""
    if scope != GLOBAL and not pipelines.exists(connection, scope):
        raise NotFound("pipeline", scope)
    return rules.active_version(connection, scope).revision


def finding_view(finding: Finding) -> DefinitionFinding:
    return DefinitionFinding(
        path=finding.path,
        message=finding.message,
        severity=finding.severity.value,
        line=finding.line,
        column=finding.column,
    )


def summaries(rulebook: Rulebook) -> list[RuleSummary]:
    return [summary(rule) for rule in rulebook.rules]


def summary(rule: Rule) -> RuleSummary:
    return RuleSummary(
        name=rule.name,
        section=rule.section.value,
        priority=rule.priority,
        is_enabled=rule.enabled,
        shadow=rule.shadow,
        auto_approves=rule.approves,
        rollout_percentage=rule.rollout,
        audit_sample_percentage=rule.audit,
    )


# Versions
def list_versions(connection: Connection, scope: str, limit: int, cursor: str | None) -> RuleVersionPage:
    active_revision(connection, scope)
    found = page(connection, sa.select(t.rule_versions).where(V.scope == scope), _NEWEST, limit, cursor)
    return RuleVersionPage(items=[_version(row) for row in found.rows], next_cursor=found.next_cursor)


def get_version(connection: Connection, scope: str, revision: int) -> RuleVersion:
    active_revision(connection, scope)
    return _version(version_row(connection, scope, revision))


def version_row(connection: Connection, scope: str, revision: int) -> Row:
    row = connection.execute(sa.select(t.rule_versions).where(V.scope == scope, V.revision == revision)).one_or_none()
    if row is None:
        raise NotFound("version of these rules", str(revision))
    return row


def _version(row: Row) -> RuleVersion:
    return RuleVersion(
        scope=row.scope,
        revision=row.revision,
        created_by=row.created_by,
        comment=row.comment,
        created_at=row.created_at,
        digest=row.digest,
        text=row.text,
    )


def compare(connection: Connection, scope: str, before: int, after: int) -> RuleDiff:
    texts = [get_version(connection, scope, revision).text.splitlines(keepends=True) for revision in (before, after)]
    names = (f"version {before}", f"version {after}")
    diff = "".join(difflib.unified_diff(*texts, fromfile=names[0], tofile=names[1]))
    return RuleDiff(from_revision=before, to_revision=after, text=diff)


# Emergency stops
def get_emergency_stop(connection: Connection) -> EmergencyStop:
    row = connection.execute(sa.select(t.emergency_stops).order_by(S.number.desc()).limit(1)).one_or_none()
    return _stop_view(row) if row else _NOT_STOPPED


def list_emergency_stops(connection: Connection, limit: int, cursor: str | None) -> EmergencyStopPage:
    found = page(connection, sa.select(t.emergency_stops), _NEWEST_STOP, limit, cursor)
    return EmergencyStopPage(items=[_stop_view(row) for row in found.rows], next_cursor=found.next_cursor)


def _stop_view(row: Row) -> EmergencyStop:
    return EmergencyStop(stopped=row.stopped, reason=row.reason, by=row.by, at=row.at)


# Explanations
def explain(connection: Connection, approval_id: str) -> ApprovalExplanation:
    """The rule that decided and the outcome of every other rule, as stored when the approval was requested."""
    row = connection.execute(
        sa.select(A.kind, A.status, A.rule, A.rule_scope, A.rules_revision, A.evaluated_rules, A.reused_from).where(
            A.approval_id == approval_id
        )
    ).one_or_none()
    if row is None:
        raise NotFound("approval", approval_id)
    evaluated_rules = [EvaluatedRule.model_validate(rule) for rule in row.evaluated_rules or ()]
    return ApprovalExplanation(
        approval_id=approval_id,
        kind=row.kind,
        status=row.status,
        rule=row.rule,
        rule_scope=row.rule_scope,
        rules_revision=row.rules_revision,
        reason=_reason(row, evaluated_rules),
        evaluated_rules=evaluated_rules,
    )


def _reason(row: Row, evaluated_rules: list[EvaluatedRule]) -> str:
    if row.reused_from is not None:
        return "The same content was approved before."
    is_automatic = row.status == ApprovalStatus.AUTO_APPROVED.value
    if row.rule is None:
        no_rule = "No rule matches." if evaluated_rules else "No rules are active."
        default = "Low-risk actions need no approval." if is_automatic else "The checkpoint's own settings apply."
        return f"{no_rule} {default}"
    scope = "global rules" if row.rule_scope == GLOBAL else "rules of the pipeline"
    name = f"'{row.rule}' ({scope}, version {row.rules_revision})"
    key = (row.rule, row.rule_scope)
    evaluated = next((rule for rule in evaluated_rules if (rule.rule, rule.scope) == key), None)
    if is_automatic:
        return f"Approved by {name}." + ("" if evaluated else " Its conditions were not recorded.")
    if evaluated is not None and evaluated.outcome != REQUIRES_APPROVAL:
        return f"{name} would approve, but was held back: {evaluated.outcome}."
    return f"{name} requires approval."
