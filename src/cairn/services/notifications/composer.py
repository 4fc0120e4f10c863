"""Compose the content of a notification, and mask personal data and secrets once for all channels."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote, urlencode

from cairn.core.states import ApprovalKind, ExecutionState
from cairn.services.masking import mask, mask_fields
from cairn.services.notifications.content import (
    MAX_SECTION_LINES,
    ContentFact,
    ContentLink,
    ContentSection,
    NotificationContent,
    Tone,
)
from cairn.services.notifications.subjects import NotificationSubject
from cairn.services.text import MAX_LINE, single_line
from cairn.store.tables.notifications import NotificationKind

Mask = Callable[[str], str]

TITLES: Mapping[NotificationKind, tuple[Tone, str]] = {
    NotificationKind.APPROVAL_REQUESTED: ("warning", "{title}"),
    NotificationKind.APPROVAL_REMINDER_DUE: ("warning", "Reminder: {title}"),
    NotificationKind.APPROVAL_ESCALATED: ("attention", "Escalated: {title}"),
    NotificationKind.APPROVAL_ASSIGNED: ("warning", "Reassigned: {title}"),
    NotificationKind.APPROVAL_REJECTED: ("attention", "Rejected: {subject}"),
    NotificationKind.APPROVAL_TIMEOUT: ("attention", "Approval timed out: {subject}"),
    NotificationKind.APPROVAL_AUTO_APPROVED: ("good", "Approved by rule: {subject}"),
    NotificationKind.EXECUTION_FAILED: ("attention", "Checkpoint failed: {checkpoint}"),
    NotificationKind.RUN_FAILED: ("attention", "Run failed: {run}"),
    NotificationKind.RUN_COMPLETED: ("good", "Run completed: {run}"),
    NotificationKind.BUDGET_WARNING: ("warning", "Budget almost used up: {run}"),
    NotificationKind.BUDGET_EXHAUSTED: ("attention", "Budget exhausted, run paused: {run}"),
}

_MARKS = {True: "✓", False: "✗", None: "?"}  # of conditions, true, false and unknown


def compose(subject: NotificationSubject, mask_secrets: Mask) -> NotificationContent:
    """Compose the content. `mask_secrets` masks the values of stored secrets."""
    builder = _ContentBuilder(subject, lambda text: mask(mask_secrets(text)))
    tone, title, brief = _titles(subject)
    return NotificationContent(
        subject.kind.value,
        tone,
        single_line(builder.mask(title)),
        builder.text(),
        tuple(builder.facts()),
        tuple(section for section in builder.sections() if section.lines),
        tuple(_links(subject)),
        _ids_and_statuses(subject),
        brief_title=single_line(builder.mask(brief)),
    )


def compose_test(channel: str, actor: str) -> NotificationContent:
    """The content of a channel test."""
    return NotificationContent(
        NotificationKind.TEST.value,
        "good",
        "Test notification",
        f'This is a test of the channel "{single_line(channel)}". Its notifications will arrive here.',
        (ContentFact("Channel", single_line(channel)), ContentFact("Sent by", single_line(mask(actor)))),
        links=(ContentLink("Open Cairn", "/"),),
    )


def _titles(subject: NotificationSubject) -> tuple[Tone, str, str]:
    """The tone and the title, and the title for channels without details."""
    tone, title = TITLES[subject.kind]
    run = f"{subject.loaded.facts.pipeline_name} {subject.run_label}"
    name = subject.checkpoint_name
    full = title.format(title=subject.title, subject=subject.action_title or name, checkpoint=name, run=run)
    return tone, full, title.format(title=subject.brief_title, subject=name, checkpoint=name, run=run)


class _ContentBuilder:
    def __init__(self, subject: NotificationSubject, mask: Mask) -> None:
        self.subject = subject
        self.mask = mask

    def masked_line(self, value: Any, max_length: int = MAX_LINE) -> str:
        return single_line(self.mask(str(value)), max_length)

    # Text
    def text(self) -> str:
        return " ".join(filter(None, (self._summary(), self.mask(self.subject.warning))))

    def _summary(self) -> str:
        detail = self.subject.detail
        match self.subject.kind:
            case NotificationKind.APPROVAL_AUTO_APPROVED:
                rule = self.masked_line(detail.get("rule") or "low risk")
                return f'Approved automatically by rule "{rule}". You don\'t need to do anything.'
            case NotificationKind.EXECUTION_FAILED | NotificationKind.RUN_FAILED:
                return self._completed_checkpoints()
            case NotificationKind.BUDGET_WARNING | NotificationKind.BUDGET_EXHAUSTED:
                return self.masked_line(detail.get("reason") or "")
            case NotificationKind.APPROVAL_REJECTED:
                return f"Rejected by {self.masked_line(self.subject.notification.actor)}."
            case NotificationKind.APPROVAL_ESCALATED:
                return "Nobody has decided yet, so more people can decide now."
            case NotificationKind.APPROVAL_TIMEOUT:
                return "The deadline passed without a decision."
            case _:
                return ""

    def _completed_checkpoints(self) -> str:
        loaded = self.subject.loaded
        completed = [e for e in loaded.run.current if e.state is ExecutionState.COMPLETED]
        names = [place.name if (place := loaded.places.get(e.key)) else e.key for e in completed]
        return f"Completed checkpoints keep their results: {self.masked_line(', '.join(names))}." if names else ""

    # Facts
    def facts(self) -> Iterable[ContentFact]:
        subject, facts = self.subject, self.subject.loaded.facts
        yield ContentFact("Pipeline", self.masked_line(facts.pipeline_name))
        yield ContentFact("Run", f"{subject.run_label} ({facts.run_id})")
        if subject.execution is not None:
            yield ContentFact("Checkpoint", self.masked_line(subject.checkpoint_name))
            yield ContentFact("Step", subject.step)
        yield from self._approval_facts()
        if subject.kind in (NotificationKind.EXECUTION_FAILED, NotificationKind.RUN_FAILED):
            yield from self._failure_facts()
        yield ContentFact("Time", _timestamp(subject.notification.created_at))

    def _approval_facts(self) -> Iterable[ContentFact]:
        approval = self.subject.approval
        if approval is None:
            return
        if approval.operation_type is not None:
            yield ContentFact("Operation", self.masked_line(approval.operation_type))
        if approval.risk is not None:
            yield ContentFact("Risk", approval.risk.value.upper())
        if approval.confidence is not None:
            yield ContentFact("Confidence", f"{approval.confidence:.0%}")
        if self.subject.kind is NotificationKind.APPROVAL_AUTO_APPROVED and self.subject.action is not None:
            yield ContentFact("Outcome", self.masked_line(self.subject.action.outcome_text))
        if approval.required_approvals > 1:
            yield ContentFact("Approvals", f"{len(approval.approved_by)} of {approval.required_approvals}")
        if approval.expires_at is not None:
            yield ContentFact("Deadline", _timestamp(approval.expires_at))
        if self.subject.kind is NotificationKind.APPROVAL_REJECTED and approval.votes:
            feedback = approval.votes[-1].feedback or "No reason given"
            yield ContentFact("Reason", self.masked_line(feedback), is_detail=True)

    def _failure_facts(self) -> Iterable[ContentFact]:
        e, detail = self.subject.execution, self.subject.detail
        error = detail.get("error") or (e.last_error.message if e is not None and e.last_error else None)
        reason = error or detail.get("reason")
        if reason:
            yield ContentFact("Error", self.masked_line(reason), is_detail=True)
        if e is not None and e.active_seconds:
            yield ContentFact("Duration", f"{e.active_seconds:.1f} seconds")

    # Sections
    def sections(self) -> Iterable[ContentSection]:
        action, approval = self.subject.action, self.subject.approval
        if action is not None:
            fields = mask_fields(action.parameters)
            yield self._section("Proposed action", (f"{name}: {value}" for name, value in fields))
            if action.reasoning:
                yield self._section("Reasoning", [action.reasoning], max_length=1000)
        reason = approval.reason if approval is not None else ""
        if approval is not None and approval.kind is ApprovalKind.INPUT:
            yield self._section("Question", [reason] if reason else [], max_length=4000)
        elif action is not None:  # the reason of its approval is these reasons as one text
            yield self._section("Reasons", action.risk_reasons)
        else:
            yield self._section("Reasons", [reason] if reason else [])
        yield self._section(*self._rule())

    def _rule(self) -> tuple[str, list[str]]:
        """The rule that requires approval or approved automatically, with each condition and its value."""
        approval = self.subject.approval
        if approval is None or not approval.rule:
            return "", []
        key = (approval.rule, approval.scope)
        rules = [rule for rule in self.subject.evaluated_rules if (rule["rule"], rule["scope"]) == key]
        lines = [
            f"{_label(c['field'])}: {c['actual']} {_MARKS[c['matched']]} ({c['expected']})"
            for rule in rules
            for c in rule["conditions"]
        ]
        return f"Rule {self.masked_line(approval.rule)}", lines or ["This rule has no conditions."]

    def _section(self, heading: str, lines: Iterable[str], *, max_length: int = MAX_LINE) -> ContentSection:
        masked = [self.masked_line(line, max_length) for line in lines]
        if len(masked) > MAX_SECTION_LINES:
            masked = [*masked[: MAX_SECTION_LINES - 1], f"… and {len(masked) - MAX_SECTION_LINES + 1} more"]
        return ContentSection(heading, tuple(masked))


def _label(field: str) -> str:
    return field.replace("_", " ").capitalize()


def _timestamp(at: datetime) -> str:
    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"


# Links
def _links(subject: NotificationSubject) -> Iterable[ContentLink]:
    run = f"/runs/{quote(subject.loaded.facts.run_id, safe='')}"
    checkpoint = f"{run}?{urlencode({'checkpoint': subject.checkpoint_id})}" if subject.checkpoint_id else run
    approval = f"/approvals/{quote(subject.approval.id, safe='')}" if subject.approval is not None else checkpoint
    match subject.kind:
        case NotificationKind.EXECUTION_FAILED | NotificationKind.RUN_FAILED:
            log = f"{checkpoint}&tab=log" if subject.checkpoint_id else run
            return [
                ContentLink("View details", checkpoint),
                ContentLink("Retry", checkpoint),
                ContentLink("View log", log),
            ]
        case NotificationKind.RUN_COMPLETED:
            return [ContentLink("View results", run)]
        case NotificationKind.BUDGET_WARNING | NotificationKind.BUDGET_EXHAUSTED:
            return [ContentLink("View run", checkpoint)]
        case NotificationKind.APPROVAL_AUTO_APPROVED:
            return [ContentLink("View details", approval), ContentLink("Stop automatic approvals", "/rules")]
        case NotificationKind.APPROVAL_REJECTED | NotificationKind.APPROVAL_TIMEOUT:
            return [ContentLink("View details", approval), ContentLink("View run", checkpoint)]
        case _:
            return [ContentLink("Review and decide", approval), ContentLink("View run", checkpoint)]


def _ids_and_statuses(subject: NotificationSubject) -> dict[str, Any]:
    facts, e, approval = subject.loaded.facts, subject.execution, subject.approval
    fields: dict[str, Any] = {
        "pipeline_id": facts.pipeline_id,
        "run_id": facts.run_id,
        "run_version": facts.run_version,
        "is_test": facts.is_test,
        "run_status": subject.loaded.run.status.value,
    }
    if e is not None:
        fields |= {"execution_id": e.id, "checkpoint_key": e.key, "execution_status": e.status.value}
    if approval is not None:
        fields |= {
            "approval_id": approval.id,
            "approval_kind": approval.kind.value,
            "approval_status": approval.status.value,
            "operation_type": approval.operation_type,
            "risk_level": approval.risk.value if approval.risk is not None else None,
            "expires_at": approval.expires_at.isoformat() if approval.expires_at is not None else None,
        }
    return fields
