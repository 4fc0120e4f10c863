"""An approved e-mail is sent once even if the process dies at any step."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from cairn.ports.outbound import Mail
from cairn.runners import Ctx
from cairn.services.actors import ADMIN
from tests.chaos.scene import Ids, Scene
from tests.services.app import App, step

OUTBOX = "outbox.txt"


class FileMailer:
    """What has left stands in a file, whatever becomes of the process."""

    def __init__(self, folder: Path) -> None:
        self._outbox = folder / OUTBOX

    async def send(self, mail: Mail, *, message_id: str) -> str:
        with self._outbox.open("a", encoding="utf-8") as file:
            file.write(f"{message_id} {mail.text}\n")
            file.flush()
            os.fsync(file.fileno())
        return "taken"


def open_action_functions(app: App) -> None:
    @app.function("write_mail")
    async def write_mail(ctx: Ctx) -> dict[str, Any]:
        parameters = {"to": "customer@example.com", "subject": "Refund", "body": "{{ amount }}", "amount": 5}
        return dict(ctx.propose_action("send_email", parameters, confidence=0.9, risk_level="high"))


async def before_the_mail(app: App) -> Ids:
    pipeline = await app.pipeline(step("mail", "write_mail"), step("end"))
    run = await app.start(pipeline)
    approval = await app.until(lambda: next(iter(app.run(run).pending_approvals), None))
    await app.until_quiet()
    return {"pipeline": pipeline, "run": run, "approval": approval.approval_id}


async def send_it(app: App, ids: Ids) -> None:
    changed = {"amount": 4}
    await app.cairn.approvals.decide(ids["approval"], "approve", modified_params=changed, actor=ADMIN)
    await app.until_run(ids["run"], "completed")
    await app.until_quiet()


def sent(app: App) -> list[str]:
    outbox = app.folder / OUTBOX
    return [line.partition(" ")[2] for line in outbox.read_text().splitlines()] if outbox.exists() else []


async def check_sent(app: App, ids: Ids) -> None:
    """It has left once; where nobody could know, people were asked and looked."""

    def doubt() -> str | None:
        found = [a for a in app.run(ids["run"]).pending_approvals if a.kind == "escalation"]
        return found[0].approval_id if found else None

    def settled() -> str | None:
        return "completed" if app.run(ids["run"]).status == "completed" else doubt()

    asked = await app.until(settled)
    if asked != "completed":
        assert len(sent(app)) <= 1, "nobody repeats what may have been done"
        await app.cairn.approvals.decide(asked, "accept" if sent(app) else "retry", actor=ADMIN)
    await app.until_run(ids["run"], "completed")
    await app.until_quiet()
    assert sent(app) == ["4"]
    told = app.event_types(ids["run"])
    assert (told.count("approval_approved"), told.count("action_done")) == (1 + told.count("action_unknown"), 1)
    assert len(app.cairn.correction_queries.cases(None, ids["pipeline"], 10, None).items) == 1


SCENES = {"an approved action is carried out": Scene(before_the_mail, send_it, check_sent)}
