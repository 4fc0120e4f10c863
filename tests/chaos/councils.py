"""Councils of agents on a fake provider. Identifies the turn that each request belongs to."""

from __future__ import annotations

import json
import re
import threading
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

from cairn.runners.agents.roles import COUNCIL_ANSWER, COUNCIL_CHAIR, COUNCIL_REVIEW
from tests.adapters.models.fake_provider import FakeProvider, ProviderRequest
from tests.adapters.models.replies import Answer, Reply, ToolCall
from tests.chaos.server import Server
from tests.runners.agent_samples import template_pattern

Json = dict[str, Any]
Call = tuple[str, int]  # a turn, and the number of answers before the call
CLAUDE, CHAT = "anthropic:claude-sonnet-4-6", "openai-chat:qwen3"
PRICE = {"input": "1", "output": "2"}  # dollars per million tokens
CALL_COST = (25 * 1 + 15 * 2) / 1_000_000
MEMBERS = ("Ann", "Ben", "Cleo")
# Ann calls a tool before answering. The chair writes a file and then answers.
CALLS: tuple[Call, ...] = (
    ("council/answer/ann", 0),
    ("council/answer/ann", 1),
    ("council/answer/ben", 0),
    ("council/answer/cleo", 0),
    *((f"council/review/{name.lower()}", 0) for name in MEMBERS),
    ("council/chair", 0),
    ("council/chair", 1),
)
FILE = "artifacts_staging/decision.md"
# A name is one word here. Otherwise the pattern could match earlier text of the prompt.
_PARTS = {
    kind: re.compile(template_pattern(template).pattern.replace("(?P<name>.+?)", r"(?P<name>\w+)"))
    for kind, template in (("answer", COUNCIL_ANSWER), ("review", COUNCIL_REVIEW))
}
_CASE = re.compile(r"Case (\d+)\.")


def server_with(provider: FakeProvider, folder: Path, **environment: str) -> Server:
    """A server that uses the fake provider with two protocols."""
    providers = {
        "anthropic": {"base_url": provider.url},
        "openai-chat": {"base_url": provider.openai_url},
    }
    return Server(
        folder,
        CAIRN_MODEL_PROVIDERS=json.dumps(providers),
        CAIRN_MODEL_PRICES=json.dumps({"anthropic:*": PRICE, "openai-chat:*": PRICE}),
        ANTHROPIC_API_KEY="a-key",
        OPENAI_API_KEY="a-key",
        **environment,
    )


def council(case: int) -> Json:
    agents: list[Json] = [
        {"name": "Ann", "role": "You are careful.", "model": CHAT, "tools": ["file_operations"]},
        {"name": "Ben", "role": "You are quick.", "model": CLAUDE},
        {"name": "Cleo", "role": "You are curious.", "model": CHAT},
        {"name": "Chair", "role": "You decide.", "model": CLAUDE, "tools": ["file_operations"]},
    ]
    config = {"creation_mode": "predefined", "discussion_mode": "council", "agents": agents}
    execution = {"mode": "agentic", "agent_config": config}
    checkpoint = {"key": "decide", "prompt": f"Case {case}.", "execution": execution, "outputs": ["decision.md"]}
    return {"pipeline_name": f"Council {case}", "config": {"auto_advance": True}, "checkpoints": [checkpoint]}


def start_run(server: Server, case: int) -> str:
    pipeline_id = server.call("POST", "/api/pipelines", council(case), expect=201)["pipeline_id"]
    return server.call("POST", "/api/runs", {"pipeline_id": pipeline_id}, expect=201)["run_id"]


def text_of(request: ProviderRequest) -> str:
    return json.dumps([request.body.get("system"), request.body["messages"]], ensure_ascii=False)


def call_of(request: ProviderRequest) -> tuple[int, Call]:
    """Identify the case and the call from the text of the request."""
    text = text_of(request)
    case = _CASE.search(text)
    assert case is not None, text
    turns = [f"council/{kind}/{match['name'].lower()}" for kind, part in _PARTS.items() if (match := part.search(text))]
    turn = turns[0] if turns else "council/chair"
    assert turns or COUNCIL_CHAIR in text, text
    return int(case[1]), (turn, sum(message["role"] == "assistant" for message in request.body["messages"]))


def answer_to(call: Call, **options: Any) -> Answer:
    match call:
        case ("council/answer/ann", 0):
            return Answer("Let me look at the files.", (ToolCall("list_files", {}),), **options)
        case ("council/chair", 0):
            return Answer(tool_calls=(ToolCall("write_file", {"path": FILE, "content": "It is decided."}),), **options)
        case (turn, _):
            return Answer(f"My answer in {turn}, which is long and arrives in pieces.", **options)


class ProviderRecorder:
    """Replies for the provider, and records the requests by case and call."""

    def __init__(self, provider: FakeProvider) -> None:
        self.requests: defaultdict[int, defaultdict[Call, list[Json]]] = defaultdict(lambda: defaultdict(list))
        self.reply: Callable[[int, Call], Reply] = lambda _, call: answer_to(call)
        self._lock = threading.Lock()  # the provider has its own thread
        provider.respond = self._answer

    def _answer(self, request: ProviderRequest) -> Reply:
        case, call = call_of(request)
        with self._lock:
            self.requests[case][call].append(request.body)
            return self.reply(case, call)

    def request_counts(self) -> dict[tuple[int, Call], int]:
        with self._lock:
            return {
                (case, call): len(bodies) for case, calls in self.requests.items() for call, bodies in calls.items()
            }

    def counts(self, case: int) -> dict[Call, int]:
        with self._lock:
            return {call: len(bodies) for call, bodies in self.requests[case].items()}


def check_conversation(server: Server, run_id: str) -> None:
    """Every message of the council is stored once, and every call is paid for once."""
    run = server.call("GET", f"/api/runs/{run_id}", expect=200)
    (execution,) = server.call("GET", f"/api/runs/{run_id}/checkpoints", expect=200)["items"]
    assert (execution["status"], execution["attempt_number"]) == ("completed", 1)
    page = server.call("GET", f"/api/executions/{execution['execution_id']}/messages?limit=500", expect=200)
    messages = page["items"]
    numbers: dict[str, list[tuple[int, str]]] = defaultdict(list)
    for message in messages:
        numbers[message["turn"]].append((message["number"], message["role"]))
    short = [(1, "system"), (2, "user"), (3, "assistant")]
    long = [*short, (4, "tool"), (5, "assistant")]
    assert numbers == {turn: long if (turn, 1) in CALLS else short for turn, _ in CALLS}
    assert [m["number"] for m in messages if m["is_last"]] == [
        5 if (m["turn"], 1) in CALLS else 3 for m in messages if m["is_last"]
    ]
    assert (run["usage"]["calls"], run["usage"]["output_tokens"]) == (len(CALLS), 15 * len(CALLS))
    assert abs(run["usage"]["cost_usd"] - CALL_COST * len(CALLS)) < 1e-9
    (artifact,) = server.call("GET", f"/api/artifacts/list?run_id={run_id}", expect=200)["items"]
    assert artifact["artifact_name"] == "decision"
