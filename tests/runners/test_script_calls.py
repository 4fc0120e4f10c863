"""A waiting script ends its process. When it runs again, its calls return the recorded answers."""

from __future__ import annotations

from dataclasses import replace
from hashlib import sha256
from typing import Any

import pytest

from cairn.core.execution import Failure
from cairn.documents import decode_json
from cairn.ports import NeedsRework, Produced, ProducedFile, RecordedCall
from tests.mentions import mentions
from tests.runners.script_samples import Bench, alive, function
from tests.runners.work_orders import stored

pytestmark = pytest.mark.asyncio
ASKS = """
n = ctx.inputs["dev"]
while n < 3:
    ctx.stage("notes.md", f"saw {n}")
    answer = ctx.request_rework("dev", prompt=f"more than {n}", reason="too small")
    n = ctx.inputs["dev"]
return {"n": n}
"""
DONE: dict[str, Any] = {"status": "completed", "reason": "", "execution_id": "e2", "artifacts": []}


class ContentStore:
    """Contents by checksum, as in the database."""

    def __init__(self) -> None:
        self.contents: dict[str, bytes] = {}

    def record(self, outcome: NeedsRework, answer: dict[str, Any] | None) -> RecordedCall:
        assert outcome.call is not None
        assert outcome.inputs_content is not None
        checksum = sha256(outcome.inputs_content).hexdigest()
        assert outcome.call.inputs_checksum == checksum
        self.contents[checksum] = outcome.inputs_content
        return replace(outcome.call, result=answer)


async def dispatch(bench: Bench, store: ContentStore, body: str, calls: tuple[RecordedCall, ...], **more: Any) -> Any:
    outputs = more.pop("outputs", ["out.json", "notes.md"])
    work = bench.work(function(body), name="asker", calls=calls, outputs=outputs, **more)
    return await bench.runner.run(replace(work, read_content=store.contents.__getitem__))


async def test_each_call_sees_its_recorded_inputs_and_then_the_new_ones(bench: Bench) -> None:
    store, calls = ContentStore(), tuple[RecordedCall, ...]()
    for n in (1, 2):
        outcome = await dispatch(bench, store, ASKS, calls, input={"dev": n})
        assert isinstance(outcome, NeedsRework)
        assert (outcome.key, outcome.prompt, outcome.reason) == ("dev", f"more than {n}", "too small")
        assert outcome.artifacts == (ProducedFile("notes", "md", f"saw {n}".encode()),)
        assert alive(":asker\0") == []
        calls = (*calls, store.record(outcome, DONE))
    assert [call.number for call in calls] == [1, 2]
    outcome = await dispatch(bench, store, ASKS, calls, input={"dev": 3})
    assert isinstance(outcome, Produced)
    assert decode_json(outcome.artifacts[1].read()) == {"n": 3}


async def test_the_result_of_a_rework_has_its_status(bench: Bench) -> None:
    store = ContentStore()
    body = 'a = ctx.request_rework("dev", "again")\nreturn [a.status, a["reason"], a.execution_id, a.artifacts]'
    first = await dispatch(bench, store, body, (), outputs=["out.json"])
    answer = {"status": "refused", "reason": "no", "execution_id": None, "artifacts": [{"name": "x"}]}
    call = store.record(first, answer)
    assert call.arguments == {"checkpoint": "dev", "prompt": "again", "reason": ""}
    outcome = await dispatch(bench, store, body, (call,), outputs=["out.json"])
    assert decode_json(outcome.artifacts[0].read()) == ["refused", "no", None, [{"name": "x"}]]


async def test_recorded_files_are_read_with_their_original_content(bench: Bench) -> None:
    store = ContentStore()
    body = 'a = ctx.references["dev"]["code"]\nctx.request_rework("dev", a)\nreturn [a, ctx.references["dev"]["code"]]'
    old, new = stored("code", "py", "old"), stored("code", "py", "new")
    store.contents[old.checksum] = b"old"
    first = await dispatch(bench, store, body, (), references={"dev": (old,)}, outputs=["out.json"])
    calls = (store.record(first, DONE),)
    outcome = await dispatch(bench, store, body, calls, references={"dev": (new,)}, outputs=["out.json"])
    assert decode_json(outcome.artifacts[0].read()) == ["old", "new"]


async def test_a_pending_call_is_made_again(bench: Bench) -> None:
    store = ContentStore()
    first = await dispatch(bench, store, ASKS, (), input={"dev": 1})
    again = await dispatch(bench, store, ASKS, (store.record(first, None),), input={"dev": 1})
    assert again == first


@pytest.mark.parametrize(
    ("body", "now"),
    [
        (
            'ctx.request_rework("plan", "more than 1", "too small")',
            "request_rework(checkpoint='plan', prompt='more than 1', reason='too small')",
        ),
        ("return {}", ""),
    ],
)
async def test_a_script_that_does_not_repeat_its_calls_fails_and_the_call_is_named(
    bench: Bench, body: str, now: str
) -> None:
    store = ContentStore()
    first = await dispatch(bench, store, ASKS, (), input={"dev": 1})
    outcome = await dispatch(bench, store, body, (store.record(first, DONE),), input={"dev": 3})
    assert outcome.error == Failure(
        "nondeterministic_calls",
        mentions("1", "request_rework(checkpoint='dev', prompt='more than 1', reason='too small')", now),
    )
