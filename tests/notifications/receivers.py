"""An app with notification receivers on loopback that validate what they receive."""

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
from tests.adapters.servers import MailServer, ReceivedRequest, WebServer, answer, mail_server, web_server
from tests.isolation import PATIENCE
from tests.notifications.payload_schemas import schema_errors
from tests.services.app import App, open_app

PUBLIC = "https://cairn.example.com"
ENDED = ("sent", "failed", "unknown", "skipped")


@dataclass
class Receivers:
    app: App
    web: WebServer
    mail: MailServer
    original_rules: Any = None  # set while a test replaces the rules

    # Channels
    async def channel(self, name: str, kind: str, **fields: Any) -> str:
        """Create a channel whose receiver accepts everything. Returns its id."""
        if kind != "email":
            fields = {"url": self.web.url(f"/{name}"), **fields}
            self.web.handlers.setdefault(f"/{name}", answer(200, b"ok"))
        spec = ChannelSpec(name=name, kind=ChannelKind(kind), **fields)
        return (await self.app.cairn.notifications.channels.create(spec, ADMIN))[0]

    def use_verdict(self, verdict: RuleVerdict, kind: ApprovalKind = ApprovalKind.COMPLETION) -> None:
        """Apply this verdict to all new approvals of this kind."""

        def judge(question: RuleQuestion) -> RuleVerdict:
            return verdict if question.kind is kind else NO_VERDICT

        class Rules:
            def judge(self, *_: Any) -> Judge:
                return judge

        engine = self.app.cairn.engine
        self.original_rules, engine.rules = self.original_rules or engine.rules, Rules()

    def require_approval(self, **terms: Any) -> None:
        self.use_verdict(
            RuleVerdict(requires_approval=True, rule="Approval required", scope="global", terms=ApprovalTerms(**terms))
        )

    # Deliveries
    def requests(self, name: str) -> list[ReceivedRequest]:
        return [request for request in self.web.requests if request.path == f"/{name}"]

    async def payloads(self, name: str, count: int = 1) -> list[Any]:
        """Wait for this many requests. Returns their JSON bodies."""
        async with asyncio.timeout(PATIENCE):
            while len(self.requests(name)) < count:
                self.web.arrived.clear()
                await self.web.arrived.wait()
        return [json.loads(request.body) for request in self.requests(name)]

    async def emails(self, count: int) -> list[EmailMessage]:
        await self.app.wait_until(lambda: len(self.mail.mails) >= count or None)
        messages: list[EmailMessage] = []
        for envelope in self.mail.mails:
            assert isinstance(envelope.content, bytes)
            messages.append(email.message_from_bytes(envelope.content, policy=default))
        return messages

    def deliveries(self, **filters: Any) -> list[Delivery]:
        """Oldest first."""
        return self.app.cairn.notification_queries.list_deliveries(DeliveryFilter(**filters), 500, None).items[::-1]

    def detail(self, delivery: Delivery) -> DeliveryDetail:
        return self.app.cairn.notification_queries.get_delivery(delivery.delivery_id)

    async def ended_deliveries(self, run_id: str, count: int = 1) -> list[Delivery]:
        """Wait until a run has this many deliveries and all have ended."""

        def ended() -> list[Delivery] | None:
            deliveries = self.deliveries(run_id=run_id)
            has_ended = len(deliveries) >= count and all(delivery.status in ENDED for delivery in deliveries)
            return deliveries if has_ended else None

        return await self.app.wait_until(ended)

    async def clear(self) -> None:
        if self.original_rules is not None:
            self.app.cairn.engine.rules, self.original_rules = self.original_rules, None
        for channel in self.app.cairn.notification_queries.list_channels(500, None).items:
            await self.app.cairn.notifications.channels.remove(channel.channel_id, ADMIN)
        self.web.requests.clear()
        self.web.handlers.clear()
        self.mail.mails.clear()
        self.mail.rejections, self.mail.data_response = {}, None


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
            app.cairn.notifications.courier.retry_delays = (0.05, 0.1)
            yield Receivers(app, web, mail)


def checked(kind: str, sent: Any) -> Any:
    """Validate a payload against the schema of its kind."""
    assert schema_errors(kind, sent) == []
    return sent


def card(sent: Any) -> dict[str, Any]:
    return checked("teams", sent)["attachments"][0]["content"]


def facts(sent: Any) -> dict[str, str]:
    found = [element for element in card(sent)["body"] if element["type"] == "FactSet"]
    return {fact["title"]: fact["value"] for fact in found[0]["facts"]}


def texts(sent: Any) -> list[str]:
    return [element["text"] for element in card(sent)["body"] if element["type"] == "TextBlock"]
