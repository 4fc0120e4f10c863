"""What is told of each thing that happens: facts, reasons, conditions, and pages to open. Masked here, once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote, urlencode

from cairn.core.states import ApprovalKind, ExecutionState
from cairn.services.masking import mask, mask_fields
from cairn.services.notifications.content import (
    MOST_LINES,
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

ASKED: Mapping[ApprovalKind, str] = {
    ApprovalKind.START: "May {name} start?",
    ApprovalKind.COMPLETION: "The result of {name} waits for approval",
    ApprovalKind.ACTION: "An action of {name} waits for approval",
    ApprovalKind.VALIDATION: "The result of {name} has to be checked",
    ApprovalKind.ESCALATION: "{name} needs a decision on how it goes on",
    ApprovalKind.INPUT: "{name} waits for its form",
}
TITLES: Mapping[NotificationKind, tuple[Tone, str]] = {
    NotificationKind.APPROVAL_REMINDER_DUE: ("warning", "Still waiting: {asked}"),
    NotificationKind.APPROVAL_ESCALATED: ("attention", "Escalated: {asked}"),
    NotificationKind.APPROVAL_ASSIGNED: ("warning", "Handed over: {asked}"),
    NotificationKind.APPROVAL_REJECTED: ("attention", "Rejected: {name}"),
    NotificationKind.APPROVAL_TIMEOUT: ("attention", "Nobody decided in time: {name}"),
    NotificationKind.APPROVAL_AUTO_APPROVED: ("good", "Approved by a rule: {name}"),
    NotificationKind.EXECUTION_FAILED: ("attention", "{name} has failed"),
    NotificationKind.RUN_FAILED: ("attention", "The run has failed"),
    NotificationKind.RUN_COMPLETED: ("good", "The run is completed"),
    NotificationKind.BUDGET_WARNING: ("warning", "Most of the budget is used"),
    NotificationKind.BUDGET_EXHAUSTED: ("attention", "The budget is spent: the run pauses"),
}


def compose(subject: NotificationSubject, hide: Mask) -> NotificationContent:
    """`hide` masks the values of the secret store."""
    words = _ContentBuilder(lambda text: mask(hide(text)))
    tone, title = _title(subject)
    return NotificationContent(
        subject.kind.value,
        tone,
        single_line(words.hidden(title)),
        words.text(subject),
        tuple(words.facts(subject)),
        tuple(s for s in words.sections(subject) if s.lines),
        tuple(_links(subject)),
        _subject_fields(subject),
    )


def trial(channel: str, by: str) -> NotificationContent:
    """What somebody gets who tries a channel out."""
    return NotificationContent(
        NotificationKind.TEST.value,
        "good",
        "This channel works",
        f"Somebody has tried the channel {single_line(channel)} out: what has to be told arrives here.",
        (ContentFact("Channel", single_line(channel)), ContentFact("Tried by", single_line(mask(by)))),
        links=(ContentLink("Open Cairn", "/"),),
    )


def _title(subject: NotificationSubject) -> tuple[Tone, str]:
    kind = subject.approval.kind if subject.approval is not None else ApprovalKind.COMPLETION
    asked = ASKED[kind].format(name=subject.checkpoint)
    tone, title = TITLES.get(subject.kind, ("warning", "{asked}"))
    return tone, title.format(asked=asked, name=subject.checkpoint)


class _ContentBuilder:
    def __init__(self, hidden: Mask) -> None:
        self.hidden = hidden

    def shown(self, value: Any, most: int = MAX_LINE) -> str:
        return single_line(self.hidden(str(value)), most)

    # ---- the sentence below the title ------------------------------------------------------------------
    def text(self, subject: NotificationSubject) -> str:
        return " ".join(filter(None, (self._told(subject), self.hidden(subject.warning))))

    def _told(self, subject: NotificationSubject) -> str:
        match subject.kind:
            case NotificationKind.APPROVAL_AUTO_APPROVED:
                rule = self.shown(subject.detail.get("rule") or "low risk")
                return f'Approved automatically by the rule "{rule}": nobody has to do anything.'
            case NotificationKind.EXECUTION_FAILED | NotificationKind.RUN_FAILED:
                return self._kept(subject)
            case NotificationKind.BUDGET_WARNING | NotificationKind.BUDGET_EXHAUSTED:
                return self.shown(subject.detail.get("reason") or "")
            case NotificationKind.APPROVAL_REJECTED:
                return f"Decided by {self.shown(subject.row.actor)}."
            case NotificationKind.APPROVAL_ESCALATED:
                return "Nobody has decided so far: others may decide now."
            case NotificationKind.APPROVAL_TIMEOUT:
                return "The time to decide is over."
            case _:
                return ""

    def _kept(self, subject: NotificationSubject) -> str:
        done = [e for e in subject.loaded.run.current if e.state is ExecutionState.COMPLETED]
        names = [p.name if (p := subject.loaded.places.get(e.key)) else e.key for e in done]
        return f"Results so far are kept: {self.shown(', '.join(names))}." if names else ""

    # ---- facts -----------------------------------------------------------------------------------------
    def facts(self, subject: NotificationSubject) -> Iterable[ContentFact]:
        facts = subject.loaded.facts
        yield ContentFact("Pipeline", self.shown(facts.pipeline_name))
        yield ContentFact("Run", f"{subject.run} ({facts.run_id})")
        if subject.execution is not None:
            yield ContentFact("Checkpoint", self.shown(subject.checkpoint))
            yield ContentFact("Step", subject.step)
        if subject.approval is not None:
            yield from self._approval_facts(subject)
        if subject.kind in (NotificationKind.EXECUTION_FAILED, NotificationKind.RUN_FAILED):
            yield from self._failure_facts(subject)
        yield ContentFact("Time", _moment(subject.row.created_at))

    def _approval_facts(self, subject: NotificationSubject) -> Iterable[ContentFact]:
        a = subject.approval
        if a is None:
            return
        if a.operation_type is not None:
            yield ContentFact("Operation", self.shown(a.operation_type))
        if a.risk is not None:
            yield ContentFact("Risk", a.risk.value.upper())
        if a.confidence is not None:
            yield ContentFact("Confidence", f"{a.confidence:.0%}")
        if a.required_approvals > 1:
            yield ContentFact("Approvals", f"{len(a.approved_by)} of {a.required_approvals} given")
        if a.expires_at is not None:
            yield ContentFact("Decide until", _moment(a.expires_at))
        if subject.kind is NotificationKind.APPROVAL_REJECTED and a.votes:
            yield ContentFact("Reason", self.shown(a.votes[-1].feedback or "none given"), is_detail=True)

    def _failure_facts(self, subject: NotificationSubject) -> Iterable[ContentFact]:
        e = subject.execution
        error = subject.detail.get("error") or (e.last_error.message if e is not None and e.last_error else None)
        reason = error or subject.detail.get("reason")
        if reason:
            yield ContentFact("Error", self.shown(reason), is_detail=True)
        if e is not None and e.active_seconds:
            yield ContentFact("Duration", f"{e.active_seconds:.1f} seconds")

    # ---- what explains it --------------------------------------------------------------------------------
    def sections(self, subject: NotificationSubject) -> Iterable[ContentSection]:
        action, a = subject.action, subject.approval
        if action is not None:
            fields = mask_fields(action.parameters)
            yield self._section("Proposed action", (f"{name}: {value}" for name, value in fields))
            if action.reasoning:
                yield self._section("Reasoning", [action.reasoning], most=1000)
        reasons = list(action.risk_reasons) if action is not None else []
        if a is not None and a.reason and a.reason not in reasons:
            reasons.append(a.reason)
        yield self._section("Why people are asked" if a is not None else "Reasons", reasons)
        yield self._section(*self._rule(subject))

    def _rule(self, subject: NotificationSubject) -> tuple[str, list[str]]:
        """The rule that asks or has approved, with each condition and its value."""
        a = subject.approval
        if a is None or not a.rule:
            return "", []
        met = [c for c in subject.considered if (c["rule"], c["scope"]) == (a.rule, a.scope)]
        lines = [
            f"{_label(c['field'])}: {c['actual']} {'✓' if c['holds'] else '✗'} ({c['wanted']})"
            for one in met
            for c in one["conditions"]
        ]
        return f"Rule {self.shown(a.rule)}", lines or ["It has no conditions."]

    def _section(self, heading: str, lines: Iterable[str], *, most: int = MAX_LINE) -> ContentSection:
        shown = [self.shown(line, most) for line in lines]
        if len(shown) > MOST_LINES:
            shown = [*shown[: MOST_LINES - 1], f"… and {len(shown) - MOST_LINES + 1} more"]
        return ContentSection(heading, tuple(shown))


def _label(field: str) -> str:
    return field.replace("_", " ").capitalize()


def _moment(at: datetime) -> str:
    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"


# ---- pages ---------------------------------------------------------------------------------------------------
def _links(subject: NotificationSubject) -> Iterable[ContentLink]:
    run = f"/runs/{quote(subject.loaded.facts.run_id, safe='')}"
    here = f"{run}?{urlencode({'checkpoint': subject.execution.key})}" if subject.execution is not None else run
    approval = f"/approvals/{quote(subject.approval.id, safe='')}" if subject.approval is not None else here
    match subject.kind:
        case NotificationKind.EXECUTION_FAILED | NotificationKind.RUN_FAILED:
            log = (
                f"{run}?{urlencode({'checkpoint': subject.execution.key, 'tab': 'log'})}" if subject.execution else run
            )
            return [ContentLink("View details", here), ContentLink("Retry", here), ContentLink("Log", log)]
        case NotificationKind.RUN_COMPLETED:
            return [ContentLink("View results", run)]
        case NotificationKind.BUDGET_WARNING | NotificationKind.BUDGET_EXHAUSTED:
            return [ContentLink("Open the run", here)]
        case NotificationKind.APPROVAL_AUTO_APPROVED:
            return [ContentLink("View details", approval), ContentLink("Stop automatic approvals", "/rules")]
        case NotificationKind.APPROVAL_REJECTED | NotificationKind.APPROVAL_TIMEOUT:
            return [ContentLink("View details", approval), ContentLink("Open the run", here)]
        case _:
            return [ContentLink("Review and decide", approval), ContentLink("Open the run", here)]


def _subject_fields(subject: NotificationSubject) -> dict[str, Any]:
    facts, e, a = subject.loaded.facts, subject.execution, subject.approval
    fields: dict[str, Any] = {
        "pipeline_id": facts.pipeline_id,
        "run_id": facts.run_id,
        "run_version": facts.run_version,
        "is_test": facts.is_test,
        "run_status": subject.loaded.run.status.value,
    }
    if e is not None:
        fields |= {"execution_id": e.id, "checkpoint_key": e.key, "execution_status": e.status.value}
    if a is not None:
        fields |= {
            "approval_id": a.id,
            "approval_kind": a.kind.value,
            "approval_status": a.status.value,
            "operation_type": a.operation_type,
            "risk_level": a.risk.value if a.risk is not None else None,
            "expires_at": a.expires_at.isoformat() if a.expires_at is not None else None,
        }
    return fields
