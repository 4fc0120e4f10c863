"""An approved email is sent once, even if the process dies at any step."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from cairn.ports.outbound import Mail
from cairn.runners import Ctx
from cairn.services.actors import ADMIN
from tests.chaos.scenario import Ids, Scenario
from tests.services.app import App, step

OUTBOX = "outbox.txt"


class FileMailer:
    """Records sent mail in a file, which survives the process."""

    is_configured = True

    def __init__(self, folder: Path) -> None:
        self._outbox = folder / OUTBOX

    async def send(self, mail: Mail, *, message_id: str) -> str:
        with self._outbox.open("a", encoding="utf-8") as file:
            file.write(f"{message_id} {mail.text}\n")
            file.flush()
            os.fsync(file.fileno())
        return "accepted"


def register_action_functions(app: App) -> None:
    @app.function("write_mail")
    async def write_mail(ctx: Ctx) -> dict[str, Any]:
        parameters = {"to": "customer@example.com", "subject": "Refund", "body": "{{ amount }}", "amount": 5}
        return dict(ctx.propose_action("send_email", parameters, confidence=0.9, risk_level="high"))


async def pending_action(app: App) -> Ids:
    pipeline = await app.pipeline(step("mail", "write_mail"), step("end"))
    run = await app.start(pipeline)
    approval = await app.wait_until(lambda: next(iter(app.run(run).pending_approvals), None))
    await app.wait_until_idle()
    return {"pipeline": pipeline, "run": run, "approval": approval.approval_id}


async def approve_action(app: App, ids: Ids) -> None:
    modified_params = {"amount": 4}
    await app.cairn.approvals.decide(ids["approval"], "approve", modified_params=modified_params, actor=ADMIN)
    await app.wait_for_run(ids["run"], "completed")
    await app.wait_until_idle()


def sent_mails(app: App) -> list[str]:
    outbox = app.folder / OUTBOX
    return [line.partition(" ")[2] for line in outbox.read_text().splitlines()] if outbox.exists() else []


async def check_sent(app: App, ids: Ids) -> None:
    """The email was sent once. If Cairn couldn't know, it asked a person, who looked it up."""

    def escalation() -> str | None:
        escalations = [a for a in app.run(ids["run"]).pending_approvals if a.kind == "escalation"]
        return escalations[0].approval_id if escalations else None

    def outcome() -> str | None:
        return "completed" if app.run(ids["run"]).status == "completed" else escalation()

    approval_id = await app.wait_until(outcome)
    if approval_id != "completed":
        assert len(sent_mails(app)) <= 1, "Cairn repeated an action that may have been executed"
        await app.cairn.approvals.decide(approval_id, "accept" if sent_mails(app) else "retry", actor=ADMIN)
    await app.wait_for_run(ids["run"], "completed")
    await app.wait_until_idle()
    assert sent_mails(app) == ["4"]
    event_types = app.event_types(ids["run"])
    assert (event_types.count("approval_approved"), event_types.count("action_done")) == (
        1 + event_types.count("action_unknown"),
        1,
    )
    assert len(app.cairn.correction_queries.cases(None, ids["pipeline"], 10, None).items) == 1


SCENARIOS = {"execute an approved action": Scenario(pending_action, approve_action, check_sent)}
