"""What is told of each thing that happens: facts, reasons, conditions, and pages to open. Masked here, once (S2)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote, urlencode

from cairn.core.states import Kind, State
from cairn.services.masking import mask, mask_fields
from cairn.services.notifications.content import MOST_LINES, Button, Content, Fact, Section, Tone
from cairn.services.notifications.subjects import Subject
from cairn.services.text import LONGEST, clean
from cairn.store.tables.notifications import NoticeKind

Mask = Callable[[str], str]

ASKED: Mapping[Kind, str] = {
    Kind.START: "May {name} start?",
    Kind.COMPLETION: "The result of {name} waits for approval",
    Kind.ACTION: "An action of {name} waits for approval",
    Kind.VALIDATION: "The result of {name} has to be checked",
    Kind.ESCALATION: "{name} needs a decision on how it goes on",
    Kind.INPUT: "{name} waits for its form",
}
TITLES: Mapping[NoticeKind, tuple[Tone, str]] = {
    NoticeKind.APPROVAL_REMINDED: ("warning", "Still waiting: {asked}"),
    NoticeKind.APPROVAL_ESCALATED: ("attention", "Escalated: {asked}"),
    NoticeKind.APPROVAL_ASSIGNED: ("warning", "Handed over: {asked}"),
    NoticeKind.APPROVAL_REJECTED: ("attention", "Rejected: {name}"),
    NoticeKind.APPROVAL_TIMEOUT: ("attention", "Nobody decided in time: {name}"),
    NoticeKind.APPROVAL_AUTO_APPROVED: ("good", "Approved by a rule: {name}"),
    NoticeKind.EXECUTION_FAILED: ("attention", "{name} has failed"),
    NoticeKind.RUN_FAILED: ("attention", "The run has failed"),
    NoticeKind.RUN_COMPLETED: ("good", "The run is completed"),
    NoticeKind.BUDGET_NEARLY_SPENT: ("warning", "Most of the budget is used"),
    NoticeKind.BUDGET_SPENT: ("attention", "The budget is spent: the run pauses"),
}


def compose(subject: Subject, hide: Mask) -> Content:
    """`hide` masks the values of the secret store."""
    words = _Words(lambda text: mask(hide(text)))
    tone, title = _title(subject)
    return Content(
        subject.kind.value,
        tone,
        clean(words.hidden(title)),
        words.text(subject),
        tuple(words.facts(subject)),
        tuple(s for s in words.sections(subject) if s.lines),
        tuple(_buttons(subject)),
        _about(subject),
    )


def trial(channel: str, by: str) -> Content:
    """What somebody gets who tries a channel out."""
    return Content(
        NoticeKind.TEST.value,
        "good",
        "This channel works",
        f"Somebody has tried the channel {clean(channel)} out: what has to be told arrives here.",
        (Fact("Channel", clean(channel)), Fact("Tried by", clean(mask(by)))),
        buttons=(Button("Open Cairn", "/"),),
    )


def _title(subject: Subject) -> tuple[Tone, str]:
    kind = subject.approval.kind if subject.approval is not None else Kind.COMPLETION
    asked = ASKED[kind].format(name=subject.checkpoint)
    tone, title = TITLES.get(subject.kind, ("warning", "{asked}"))
    return tone, title.format(asked=asked, name=subject.checkpoint)


class _Words:
    def __init__(self, hidden: Mask) -> None:
        self.hidden = hidden

    def shown(self, value: Any, most: int = LONGEST) -> str:
        return clean(self.hidden(str(value)), most)

    # ---- the sentence below the title ------------------------------------------------------------------
    def text(self, subject: Subject) -> str:
        return " ".join(filter(None, (self._told(subject), self.hidden(subject.warning))))

    def _told(self, subject: Subject) -> str:
        match subject.kind:
            case NoticeKind.APPROVAL_AUTO_APPROVED:
                rule = self.shown(subject.detail.get("rule") or "low risk")
                return f'Approved automatically by the rule "{rule}": nobody has to do anything.'
            case NoticeKind.EXECUTION_FAILED | NoticeKind.RUN_FAILED:
                return self._kept(subject)
            case NoticeKind.BUDGET_NEARLY_SPENT | NoticeKind.BUDGET_SPENT:
                return self.shown(subject.detail.get("reason") or "")
            case NoticeKind.APPROVAL_REJECTED:
                return f"Decided by {self.shown(subject.row.actor)}."
            case NoticeKind.APPROVAL_ESCALATED:
                return "Nobody has decided so far: others may decide now."
            case NoticeKind.APPROVAL_TIMEOUT:
                return "The time to decide is over."
            case _:
                return ""

    def _kept(self, subject: Subject) -> str:
        done = [e for e in subject.loaded.run.current if e.state is State.COMPLETED]
        names = [p.name if (p := subject.loaded.places.get(e.key)) else e.key for e in done]
        return f"Results so far are kept: {self.shown(', '.join(names))}." if names else ""

    # ---- facts -----------------------------------------------------------------------------------------
    def facts(self, subject: Subject) -> Iterable[Fact]:
        facts = subject.loaded.facts
        yield Fact("Pipeline", self.shown(facts.pipeline_name))
        yield Fact("Run", f"{subject.run} ({facts.run_id})")
        if subject.execution is not None:
            yield Fact("Checkpoint", self.shown(subject.checkpoint))
            yield Fact("Step", subject.step)
        if subject.approval is not None:
            yield from self._approval_facts(subject)
        if subject.kind in (NoticeKind.EXECUTION_FAILED, NoticeKind.RUN_FAILED):
            yield from self._failure_facts(subject)
        yield Fact("Time", _moment(subject.row.noted_at))

    def _approval_facts(self, subject: Subject) -> Iterable[Fact]:
        a = subject.approval
        if a is None:
            return
        if a.operation_type is not None:
            yield Fact("Operation", self.shown(a.operation_type))
        if a.risk is not None:
            yield Fact("Risk", a.risk.value.upper())
        if a.confidence is not None:
            yield Fact("Confidence", f"{a.confidence:.0%}")
        if a.needed > 1:
            yield Fact("Approvals", f"{len(a.agreeing)} of {a.needed} given")
        if a.expires_at is not None:
            yield Fact("Decide until", _moment(a.expires_at))
        if subject.kind is NoticeKind.APPROVAL_REJECTED and a.votes:
            yield Fact("Reason", self.shown(a.votes[-1].feedback or "none given"), is_detail=True)

    def _failure_facts(self, subject: Subject) -> Iterable[Fact]:
        e = subject.execution
        error = subject.detail.get("error") or (e.last_error.message if e is not None and e.last_error else None)
        reason = error or subject.detail.get("reason")
        if reason:
            yield Fact("Error", self.shown(reason), is_detail=True)
        if e is not None and e.worked:
            yield Fact("Duration", f"{e.worked:.1f} seconds")

    # ---- what explains it --------------------------------------------------------------------------------
    def sections(self, subject: Subject) -> Iterable[Section]:
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

    def _rule(self, subject: Subject) -> tuple[str, list[str]]:
        """The rule that asks or has approved, with each condition and its value (H6)."""
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

    def _section(self, heading: str, lines: Iterable[str], *, most: int = LONGEST) -> Section:
        shown = [self.shown(line, most) for line in lines]
        if len(shown) > MOST_LINES:
            shown = [*shown[: MOST_LINES - 1], f"… and {len(shown) - MOST_LINES + 1} more"]
        return Section(heading, tuple(shown))


def _label(field: str) -> str:
    return field.replace("_", " ").capitalize()


def _moment(at: datetime) -> str:
    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"


# ---- pages ---------------------------------------------------------------------------------------------------
def _buttons(subject: Subject) -> Iterable[Button]:
    run = f"/runs/{quote(subject.loaded.facts.run_id, safe='')}"
    here = f"{run}?{urlencode({'checkpoint': subject.execution.key})}" if subject.execution is not None else run
    approval = f"/approvals/{quote(subject.approval.id, safe='')}" if subject.approval is not None else here
    match subject.kind:
        case NoticeKind.EXECUTION_FAILED | NoticeKind.RUN_FAILED:
            log = (
                f"{run}?{urlencode({'checkpoint': subject.execution.key, 'tab': 'log'})}" if subject.execution else run
            )
            return [Button("View details", here), Button("Retry", here), Button("Log", log)]
        case NoticeKind.RUN_COMPLETED:
            return [Button("View results", run)]
        case NoticeKind.BUDGET_NEARLY_SPENT | NoticeKind.BUDGET_SPENT:
            return [Button("Open the run", here)]
        case NoticeKind.APPROVAL_AUTO_APPROVED:
            return [Button("View details", approval), Button("Stop automatic approvals", "/rules")]
        case NoticeKind.APPROVAL_REJECTED | NoticeKind.APPROVAL_TIMEOUT:
            return [Button("View details", approval), Button("Open the run", here)]
        case _:
            return [Button("Review and decide", approval), Button("Open the run", here)]


def _about(subject: Subject) -> dict[str, Any]:
    facts, e, a = subject.loaded.facts, subject.execution, subject.approval
    about: dict[str, Any] = {
        "pipeline_id": facts.pipeline_id,
        "run_id": facts.run_id,
        "run_version": facts.run_version,
        "is_test": facts.is_test,
        "run_status": subject.loaded.run.status.value,
    }
    if e is not None:
        about |= {"execution_id": e.id, "checkpoint_key": e.key, "execution_status": e.status.value}
    if a is not None:
        about |= {
            "approval_id": a.id,
            "approval_kind": a.kind.value,
            "approval_status": a.status.value,
            "operation_type": a.operation_type,
            "risk_level": a.risk.value if a.risk is not None else None,
            "expires_at": a.expires_at.isoformat() if a.expires_at is not None else None,
        }
    return about
