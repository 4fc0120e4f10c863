"""Those who are told: an app with receivers on loopback that look at what they get."""

from __future__ import annotations

import asyncio
import email
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from email.message import EmailMessage
from email.policy import default
from pathlib import Path
from typing import Any

from cairn.core.rule_verdict import NO_VERDICT, ApprovalTerms, Judge, RuleQuestion, RuleVerdict
from cairn.core.states import ApprovalKind
from cairn.services.actors import ADMIN
from cairn.services.notifications.channels import ChannelSpec
from cairn.services.notifications.queries import DeliveryFilter
from cairn.services.notifications.views import Delivery, DeliveryDetail
from cairn.store.tables.notifications import ChannelKind
from tests.adapters.servers import Asked, MailServer, WebServer, answer, mail_server, web_server
from tests.isolation import PATIENCE
from tests.notifications.payload_schemas import faults
from tests.services.app import App, open_app

PUBLIC = "https://cairn.example.com"
ENDED = ("sent", "failed", "unknown", "skipped")


@dataclass
class Receivers:
    app: App
    web: WebServer
    mail: MailServer
    in_force: Any = None  # the rules, while a test has its own

    # ---- channels --------------------------------------------------------------------------------------
    async def channel(self, name: str, kind: str, **wanted: Any) -> str:
        """A channel whose receiver takes what it gets."""
        if kind != "email":
            wanted = {"url": self.web.url(f"/{name}"), **wanted}
            self.web.pages.setdefault(f"/{name}", answer(200, b"ok"))
        given = ChannelSpec(name=name, kind=ChannelKind(kind), **wanted)
        return (await self.app.cairn.notifications.channels.create(given, ADMIN))[0]

    def judged(self, verdict: RuleVerdict, kind: ApprovalKind = ApprovalKind.COMPLETION) -> None:
        """Let a rule say this of approvals of this kind from now on."""

        def judge(question: RuleQuestion) -> RuleVerdict:
            return verdict if question.kind is kind else NO_VERDICT

        class Rules:
            def judge(self, *_: Any) -> Judge:
                return judge

        engine = self.app.cairn.engine
        self.in_force, engine.rules = self.in_force or engine.rules, Rules()

    def asks(self, **terms: Any) -> None:
        self.judged(RuleVerdict(requires_approval=True, rule="Asks", scope="global", terms=ApprovalTerms(**terms)))

    # ---- what came -------------------------------------------------------------------------------------
    def got(self, name: str) -> list[Asked]:
        return [asked for asked in self.web.asked if asked.path == f"/{name}"]

    async def until_got(self, name: str, count: int = 1) -> list[Any]:
        """What a receiver has got; each fits the schema of its kind."""
        async with asyncio.timeout(PATIENCE):
            while len(self.got(name)) < count:
                self.web.arrived.clear()
                await self.web.arrived.wait()
        return [json.loads(asked.body) for asked in self.got(name)]

    async def until_mails(self, count: int) -> list[EmailMessage]:
        await self.app.until(lambda: len(self.mail.mails) >= count or None)
        found: list[EmailMessage] = []
        for envelope in self.mail.mails:
            assert isinstance(envelope.content, bytes)
            found.append(email.message_from_bytes(envelope.content, policy=default))
        return found

    def deliveries(self, **wanted: Any) -> list[Delivery]:
        """Oldest first."""
        return self.app.cairn.notification_queries.list_deliveries(DeliveryFilter(**wanted), 500, None).items[::-1]

    def detail(self, delivery: Delivery) -> DeliveryDetail:
        return self.app.cairn.notification_queries.get_delivery(delivery.delivery_id)

    async def until_ended(self, run_id: str, count: int = 1) -> list[Delivery]:
        """The deliveries of a run when each has come to its end."""

        def look() -> list[Delivery] | None:
            found = self.deliveries(run_id=run_id)
            return found if len(found) >= count and all(one.status in ENDED for one in found) else None

        return await self.app.until(look)

    async def clear(self) -> None:
        if self.in_force is not None:
            self.app.cairn.engine.rules, self.in_force = self.in_force, None
        for channel in self.app.cairn.notification_queries.list_channels(500, None).items:
            await self.app.cairn.notifications.channels.remove(channel.channel_id, ADMIN)
        self.web.asked.clear()
        self.web.pages.clear()
        self.mail.mails.clear()
        self.mail.refused, self.mail.data = {}, None


@asynccontextmanager
async def open_receivers(folder: Path, url: str | None = None) -> AsyncGenerator[Receivers]:
    async with web_server() as web, mail_server() as mail:
        settings: dict[str, Any] = {
            "outbound_allowed": ["127.0.0.1"],
            "public_url": f"{PUBLIC}/",
            "smtp_host": "127.0.0.1",
            "smtp_port": mail.port,
            "smtp_tls": "none",
            "smtp_from": "cairn@example.com",
        }
        async with open_app(folder, url, **settings) as app:
            app.cairn.notifications.courier.waits = (0.05, 0.1)
            yield Receivers(app, web, mail)


def checked(kind: str, sent: Any) -> Any:
    """What fits the schema of its kind."""
    assert faults(kind, sent) == []
    return sent


def card(sent: Any) -> dict[str, Any]:
    return checked("teams", sent)["attachments"][0]["content"]


def facts(sent: Any) -> dict[str, str]:
    found = [element for element in card(sent)["body"] if element["type"] == "FactSet"]
    return {fact["title"]: fact["value"] for fact in found[0]["facts"]}


def texts(sent: Any) -> list[str]:
    return [element["text"] for element in card(sent)["body"] if element["type"] == "TextBlock"]
