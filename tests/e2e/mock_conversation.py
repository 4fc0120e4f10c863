"""A run with a mocked conversation, so that browser tests need no model."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import parse_qs, urlsplit

from playwright.sync_api import Page, Route

from tests.e2e.samples import one_function
from tests.e2e.server import Server

# Replace EventSource by one that the test controls.
STREAMS = """
window.streams = []
class Stream extends EventTarget {
  constructor(url) {
    super()
    this.url = url
    window.streams.push(this)
    setTimeout(() => this.onopen?.(), 5)
  }
  close() { window.streams = window.streams.filter((stream) => stream !== this) }
}
Stream.CLOSED = 2
window.EventSource = Stream
window.say = (type, data) => window.streams.filter((stream) => stream.url.includes('/runs/'))
  .forEach((stream) => stream.dispatchEvent(new MessageEvent(type, { data: JSON.stringify(data) })))
"""
NO_LIMITS = {"max_cost_usd": None, "max_tokens": None, "max_calls": None}


def usage(**facts: Any) -> dict[str, Any]:
    none = dict.fromkeys(
        [
            "calls",
            "input_tokens",
            "output_tokens",
            "cache_read_tokens",
            "cache_write_tokens",
            "cost_usd",
            "unpriced_calls",
            "simulated_calls",
            "simulated_tokens",
            "seconds",
        ],
        0,
    )
    return {**none, **facts}


class MockConversation:
    """An agentic run with mocked messages, usage and budget."""

    def __init__(self, page: Page, server: Server, name: str) -> None:
        self.page = page
        self.messages: list[dict[str, Any]] = []
        self.is_hidden = False
        self.pages: list[str] = []  # requested pages
        self.is_slow = False  # older pages are held back until released
        self._waiting: list[Route] = []
        self.run: dict[str, Any] = {}  # overrides the response of the server
        run_id = server.start(server.define(one_function(name, "e2e.wait", "{gate: never}")))
        self.execution_id: str = server.run(run_id)["checkpoints"][0]["execution_id"]
        self.address = f"{server.address}/runs/{run_id}"
        page.add_init_script(STREAMS)
        page.route(re.compile(r"/api/runs/[0-9a-f-]+$"), self._run)
        page.route(re.compile(r"/api/executions/[0-9a-f-]+/messages"), self._messages)

    def message(self, agent_name: str, content: str, **facts: Any) -> dict[str, Any]:
        number = len(self.messages) + 1
        return {
            "message_id": number,
            "execution_id": self.execution_id,
            "timestamp": "2026-03-02T13:31:00.000000Z",
            "agent_name": agent_name,
            "role": "assistant",
            "content": content,
            "attempt_key": "a1.r0.v0",
            "is_current": True,
            "turn": "work",
            "number": number,
            "purpose": "work",
            "thinking": "",
            "tool_calls": [],
            "tool_results": [],
            "model": "anthropic:claude",
            "is_simulated": False,
            "is_last": True,
            "usage": None,
            **facts,
        }

    def add(self, agent_name: str, content: str, **facts: Any) -> dict[str, Any]:
        message = self.message(agent_name, content, **facts)
        self.messages.append(message)
        return message

    def send_delta(self, text: str, offset: int, **facts: Any) -> None:
        """Send a part of the next message."""
        delta = {
            "execution_id": self.execution_id,
            "attempt_key": "a1.r0.v0",
            "turn": "work",
            "number": len(self.messages) + 1,
            "agent_name": "Sceptic",
            "kind": "text",
            "offset": offset,
            "text": text,
            "is_simulated": True,
            **facts,
        }
        self.page.evaluate("([type, data]) => window.say(type, data)", ["message_delta", delta])

    def send(self, message: dict[str, Any]) -> None:
        self.page.evaluate("([type, data]) => window.say(type, data)", ["message", message])

    def _run(self, route: Route) -> None:
        answer = route.fetch()
        found: dict[str, Any] = answer.json()
        for item in found["checkpoints"]:
            item["mode"] = "agentic"
        route.fulfill(response=answer, json={**found, **self.run})

    def release_older(self) -> None:
        self.is_slow = False
        for route in self._waiting:
            self._messages(route)

    def _messages(self, route: Route) -> None:
        query = {name: values[0] for name, values in parse_qs(urlsplit(route.request.url).query).items()}
        if self.is_slow and "before" in query:
            self._waiting.append(route)
            return
        if "after" not in query:
            self.pages.append(f"{query['order']} {query.get('before')}")
        before, after = int(query.get("before", 1 << 53)), int(query.get("after", 0))
        found = [message for message in self.messages if after < message["message_id"] < before]
        if query["order"] == "newest":
            found.reverse()
        page = {"items": found[:100], "next_cursor": "more" if len(found) > 100 else None}
        route.fulfill(json={**page, "is_hidden": self.is_hidden})
