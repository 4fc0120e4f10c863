"""Every kind of notification as an email, and the test message of a channel."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

from cairn.core.approval import Approval, Vote
from cairn.core.execution import Execution, Failure
from cairn.core.rule_verdict import ApprovalTerms, RiskLevel
from cairn.core.states import ApprovalKind, ExecutionState
from cairn.services.notifications import composer
from cairn.services.notifications.content import NotificationContent
from cairn.services.notifications.formats import email
from cairn.services.notifications.subjects import ActionSubject, NotificationSubject
from cairn.store.tables.notifications import NotificationKind
from tests.snapshots.messages import module_name
from tests.snapshots.source_texts import listing, texts_of

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
BASE = "https://cairn.example.com"
RULE = "High-value refunds"
CONDITIONS = [{"field": "amount", "expected": "> 50", "actual": "99.99", "matched": True}]
CONSIDERED = ({"rule": RULE, "scope": "global", "conditions": CONDITIONS},)
ACTION = ActionSubject(
    {"to": "customer@example.com", "amount": 99.99},
    "The parcel never arrived.",
    ("It moves money.",),
    summary="Move 99.99 USD to customer@example.com",
    state="done",
    result=None,
)
FIRST = Execution("e1", "ticket", 0, 1, 1, state=ExecutionState.COMPLETED)
SECOND = Execution(
    "e2",
    "refund",
    1,
    1,
    2,
    state=ExecutionState.FAILED,
    last_error=Failure("timeout", "No answer"),
    active_seconds=12.5,
)
APPROVAL = Approval(
    "a1",
    "e2",
    ApprovalKind.COMPLETION,
    "d1",
    NOW,
    terms=ApprovalTerms(required_approvals=2),
    expires_at=NOW + timedelta(hours=4),
    votes=(Vote("mira", NOW, "reject", "The amount is wrong."),),
    reason="The rule asks for two approvals.",
)
OF_APPROVALS = [kind for kind in NotificationKind if kind.value.startswith("approval_")]
WITHOUT_EXECUTION = (
    NotificationKind.RUN_COMPLETED,
    NotificationKind.BUDGET_WARNING,
    NotificationKind.BUDGET_EXHAUSTED,
)


def emails() -> str:
    parts = [_shown(f"approval_requested, {kind.value}", _approval_requested(kind)) for kind in ApprovalKind]
    parts += [
        _shown(kind.value, _of_approval(kind))
        for kind in OF_APPROVALS
        if kind is not NotificationKind.APPROVAL_REQUESTED
    ]
    others = [kind for kind in NotificationKind if kind not in OF_APPROVALS and kind is not NotificationKind.TEST]
    parts += [_shown(kind.value, _of_run(kind)) for kind in others]
    parts.append(_shown("test", composer.compose_test("operations", "mira")))
    templates = {name: texts for name, texts in texts_of("services").items() if name == module_name(composer)}
    return "\n\n".join([*parts, "# In the source", listing(templates)])


def _shown(title: str, content: NotificationContent) -> str:
    mail = email.message(content, BASE, "mira@example.com")
    lines = f"Subject: {mail.subject}\n\n{mail.text}".strip().splitlines()
    return "\n".join([f"# {title}", "", *(f"    {line}".rstrip() for line in lines)])


def _approval_requested(kind: ApprovalKind) -> NotificationContent:
    if kind is not ApprovalKind.ACTION:
        return _composed(NotificationKind.APPROVAL_REQUESTED, approval=replace(APPROVAL, kind=kind))
    risky = replace(APPROVAL, kind=kind, rule=RULE, scope="global", operation_type="refund", risk=RiskLevel.HIGH)
    approval = replace(risky, confidence=0.87)
    return _composed(NotificationKind.APPROVAL_REQUESTED, approval=approval, action=ACTION, evaluated_rules=CONSIDERED)


def _of_approval(kind: NotificationKind) -> NotificationContent:
    is_automatic = kind is NotificationKind.APPROVAL_AUTO_APPROVED
    approval = replace(APPROVAL, rule=RULE, scope="global") if is_automatic else APPROVAL
    return _composed(kind, approval=approval, evaluated_rules=CONSIDERED if is_automatic else ())


def _of_run(kind: NotificationKind) -> NotificationContent:
    return _composed(kind, execution=None if kind in WITHOUT_EXECUTION else SECOND)


def _composed(kind: NotificationKind, execution: Execution | None = SECOND, **options: Any) -> NotificationContent:
    facts = SimpleNamespace(
        pipeline_name="Customer refunds", pipeline_id="p1", run_id="r1", run_version=3, is_test=False
    )
    run = SimpleNamespace(current=(FIRST, SECOND), status=SimpleNamespace(value="in_progress"))
    places = {
        "ticket": SimpleNamespace(checkpoint_id="0", name="Read ticket"),
        "refund": SimpleNamespace(checkpoint_id="0", name="Refund"),
    }
    loaded: Any = SimpleNamespace(facts=facts, run=run, places=places)
    detail = {"rule": RULE, "reason": "The run has used 9 calls of its budget of 10 calls."}
    notification: Any = SimpleNamespace(detail=detail, actor="mira", created_at=NOW)
    return composer.compose(NotificationSubject(kind, notification, loaded, execution, **options), lambda text: text)
