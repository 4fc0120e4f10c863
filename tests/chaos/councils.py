"""Councils at a fake provider: which turn a request belongs to, and servers whose models are there."""

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
Call = tuple[str, int]  # a turn, and how many answers it has by then
CLAUDE, CHAT = "anthropic:claude-sonnet-4-6", "openai-chat:qwen3"
PRICE = {"input": "1", "output": "2"}  # dollars for a million tokens
CALL_COST = (25 * 1 + 15 * 2) / 1_000_000
MEMBERS = ("Ann", "Ben", "Cleo")
# Ann looks around before she answers, the chair writes a file and then says so.
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
# A name is one word here: what an agent is told before it may start with the same words.
_PARTS = {
    kind: re.compile(template_pattern(template).pattern.replace("(?P<name>.+?)", r"(?P<name>\w+)"))
    for kind, template in (("answer", COUNCIL_ANSWER), ("review", COUNCIL_REVIEW))
}
_CASE = re.compile(r"Case (\d+)\.")


def server_with(provider: FakeProvider, folder: Path, **environment: str) -> Server:
    """Its models are at the fake provider, in two protocols."""
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


def begin(server: Server, case: int) -> str:
    pipeline_id = server.call("POST", "/api/pipelines", council(case), expect=201)["pipeline_id"]
    return server.call("POST", "/api/runs", {"pipeline_id": pipeline_id}, expect=201)["run_id"]


def text_of(asked: ProviderRequest) -> str:
    return json.dumps([asked.body.get("system"), asked.body["messages"]], ensure_ascii=False)


def call_of(asked: ProviderRequest) -> tuple[int, Call]:
    """The case and the call, told by the words that the provider receives."""
    text = text_of(asked)
    case = _CASE.search(text)
    assert case is not None, text
    turns = [f"council/{kind}/{found['name'].lower()}" for kind, part in _PARTS.items() if (found := part.search(text))]
    turn = turns[0] if turns else "council/chair"
    assert turns or COUNCIL_CHAIR in text, text
    return int(case[1]), (turn, sum(message["role"] == "assistant" for message in asked.body["messages"]))


def answer_to(call: Call, **how: Any) -> Answer:
    match call:
        case ("council/answer/ann", 0):
            return Answer("I look around.", (ToolCall("list_files", {}),), **how)
        case ("council/chair", 0):
            return Answer(tool_calls=(ToolCall("write_file", {"path": FILE, "content": "It is decided."}),), **how)
        case (turn, _):
            return Answer(f"My words in {turn}, which are many and come in pieces.", **how)


class Clerk:
    """Answers for the provider, and writes down what each call was asked with."""

    def __init__(self, provider: FakeProvider) -> None:
        self.asked: defaultdict[int, defaultdict[Call, list[Json]]] = defaultdict(lambda: defaultdict(list))
        self.reply: Callable[[int, Call], Reply] = lambda _, call: answer_to(call)
        self._lock = threading.Lock()  # the provider has a thread of its own
        provider.respond = self._answer

    def _answer(self, asked: ProviderRequest) -> Reply:
        case, call = call_of(asked)
        with self._lock:
            self.asked[case][call].append(asked.body)
            return self.reply(case, call)

    def asked_in_all(self) -> dict[tuple[int, Call], int]:
        with self._lock:
            return {(case, call): len(bodies) for case, calls in self.asked.items() for call, bodies in calls.items()}

    def counts(self, case: int) -> dict[Call, int]:
        with self._lock:
            return {call: len(bodies) for call, bodies in self.asked[case].items()}


def check_conversation(server: Server, run_id: str) -> None:
    """Every message of a council stands there once, and its calls are paid for once."""
    run = server.call("GET", f"/api/runs/{run_id}", expect=200)
    (execution,) = server.call("GET", f"/api/runs/{run_id}/checkpoints", expect=200)["items"]
    assert (execution["status"], execution["attempt_number"]) == ("completed", 1)
    page = server.call("GET", f"/api/executions/{execution['execution_id']}/messages?limit=500", expect=200)
    said = page["items"]
    numbers: dict[str, list[tuple[int, str]]] = defaultdict(list)
    for message in said:
        numbers[message["turn"]].append((message["number"], message["role"]))
    short = [(1, "system"), (2, "user"), (3, "assistant")]
    long = [*short, (4, "tool"), (5, "assistant")]
    assert numbers == {turn: long if (turn, 1) in CALLS else short for turn, _ in CALLS}
    assert [m["number"] for m in said if m["is_last"]] == [
        5 if (m["turn"], 1) in CALLS else 3 for m in said if m["is_last"]
    ]
    assert (run["usage"]["calls"], run["usage"]["output_tokens"]) == (len(CALLS), 15 * len(CALLS))
    assert abs(run["usage"]["cost_usd"] - CALL_COST * len(CALLS)) < 1e-9
    (artifact,) = server.call("GET", f"/api/artifacts/list?run_id={run_id}", expect=200)["items"]
    assert artifact["artifact_name"] == "decision"
