"""Users can script the simulated model by checkpoint, attempt and call to test their pipelines."""

from __future__ import annotations

from typing import Any

import pytest

from cairn.adapters.models.catalogue import ModelPolicy, PydanticAiModels
from cairn.adapters.simulated_model import SimulatedModelFactory
from cairn.ports.models import ANSWERED_BY, ModelCallContext, ModelError
from cairn.ports.models import ModelErrorKind as Kind
from tests.adapters.models.requests import no_secret, streamed, unstreamed
from tests.adapters.simulated_model.requests import (
    ASK,
    INPUT,
    TASK,
    WRITE,
    Json,
    SimulatedConversation,
    converse,
    output,
    tool_calls,
)
from tests.mentions import mentions

FILES = "=== RESULT ===\nWrite these files:\n- staging/a.md, in Markdown\n- staging/b.json, in JSON"
KINDS = [kind for kind in Kind if kind is not Kind.NOT_CONFIGURED]


def models(simulated: SimulatedModelFactory | None = None, **more: Any) -> PydanticAiModels:
    policy: dict[str, Any] = {"retry_delay": 0.0, **more}
    return PydanticAiModels(ModelPolicy(**policy), no_secret, {}, simulated or SimulatedModelFactory())


def call_context(**more: Any) -> ModelCallContext:
    return ModelCallContext("one", **more)


def scripted(*steps: Json) -> Json:
    return {"simulation": list(steps)}


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in (Kind.REFUSAL, Kind.BAD_ANSWER)])
async def test_the_scripted_error_is_raised_like_a_provider_error(kind: Kind) -> None:
    """Transient errors are retried. A model name such as `simulated:overload` works like a script."""
    for name, settings in (
        ("simulated:default", scripted({"fail": kind.value})),
        (f"simulated:{kind.value.replace('_', '-')}", {}),
    ):
        reports: list[str] = []
        for send in (streamed, unstreamed):
            reports.clear()
            with pytest.raises(ModelError) as raised:
                await send(models().choose(name, settings, ModelCallContext(notify=reports.append)))
            assert raised.value.kind is kind
            assert str(raised.value).startswith(f"{name}: ")
            assert len(reports) == (2 if raised.value.is_transient else 0)


async def test_refusals_and_unreadable_answers_are_scripted() -> None:
    refusal = await converse(steps=[{"fail": "refusal"}]).send("Go.")
    assert refusal.finish_reason == "content_filter"
    bad = await converse(steps=[{"fail": "bad_answer"}], schema={"type": "object"}).send("Go.")
    assert [call.args for call in bad.tool_calls] == ['{"half']
    assert (await converse(steps=[{"fail": "bad_answer"}]).send("Go.")).text == '{"half'


async def test_a_step_applies_to_the_chosen_attempts() -> None:
    steps = scripted({"attempt": [1, 2], "fail": "overload"}, {"say": "There."})
    adapter = models(max_attempts=1)
    for attempt in (1, 2):
        with pytest.raises(ModelError):
            await streamed(adapter.choose(None, steps, call_context(attempt=attempt)))
    assert (await streamed(adapter.choose(None, steps, call_context(attempt=3)))).text == "There."


async def test_a_step_applies_to_the_chosen_calls() -> None:
    """Calls are counted per execution and attempt. A retry counts as a call."""
    steps = scripted({"call": 1, "fail": "rate_limit", "retry_after": 0}, {"say": "There."})
    adapter = models()
    for execution in ("one", "two"):
        reports: list[str] = []
        chosen = adapter.choose(None, steps, ModelCallContext(execution_id=execution, notify=reports.append))
        response = await streamed(chosen)
        assert (response.text, len(reports)) == ("There.", 1)
        assert (response.metadata or {})[ANSWERED_BY] == "simulated:default"
        assert (await streamed(chosen)).text == "There."
    assert (await streamed(adapter.choose(None, steps, ModelCallContext("one", attempt=2)))).text == "There."


async def test_the_error_interrupts_the_stream_after_some_characters() -> None:
    reports: list[str] = []
    steps = scripted({"call": 1, "fail": "network", "after": 20})
    events: list[Any] = []
    response = await streamed(models().choose(None, steps, ModelCallContext("one", notify=reports.append)), events)
    assert (len(reports), response.state) == (1, "complete")
    with pytest.raises(ModelError) as raised:
        await streamed(models(max_attempts=1).choose(None, scripted({"fail": "network", "after": 5}), call_context()))
    assert raised.value.kind is Kind.NETWORK


async def test_a_step_applies_to_matching_prompts_and_checkpoints() -> None:
    steps: list[Json] = [
        {"when": "NOTHING LIKE IT", "say": "no"},
        {"checkpoint": "other", "say": "not here"},
        {"when": "invoice EXPORT", "checkpoint": "draft", "say": "Yes."},
    ]
    assert (
        await converse(steps=steps, call_context=ModelCallContext(checkpoint="draft")).send(INPUT + TASK)
    ).text == "Yes."
    everywhere = SimulatedModelFactory(steps=lambda: steps)
    assert (
        await converse(simulated=everywhere, call_context=ModelCallContext(checkpoint="draft")).send(INPUT + TASK)
    ).text == "Yes."
    with_own_steps = converse(
        simulated=everywhere, steps=[{"say": "Mine first."}], call_context=ModelCallContext(checkpoint="draft")
    )
    assert (await with_own_steps.send(INPUT + TASK)).text == "Mine first."
    assert "invoice" in ((await converse(simulated=everywhere).send(INPUT + TASK)).text or "")


async def test_texts_and_outputs_are_scripted() -> None:
    schema: Json = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
    assert output(await converse(steps=[{"output": {"a": "not a number"}}], schema=schema).send("Go.")) == {
        "a": "not a number"
    }
    assert output(await converse(steps=[{"say": '{"a": 3}'}], schema=schema).send("Go.")) == {"a": 3}
    assert (await converse(steps=[{"say": "No JSON."}], schema=schema).send("Go.")).text == "No JSON."
    assert (await converse(steps=[{"output": [1]}]).send("Go.")).text == "[1]"
    assert (await converse(steps=[{"say": ""}]).send("Go.")).text == ""


async def test_artifacts_are_scripted() -> None:
    """A file can be set, left out or added."""
    steps: list[Json] = [{"artifacts": {"a": "# Given\n", "b.json": None, "more.txt": "Not asked for."}}]
    conversation = converse(WRITE, steps=steps)
    written = await conversation.send(TASK + FILES)
    assert tool_calls(written) == [
        ("write_file", {"path": "staging/a.md", "content": "# Given\n"}),
        ("write_file", {"path": "staging/more.txt", "content": "Not asked for."}),
    ]
    done = await conversation.return_tool_results(written)
    assert done.text == mentions("staging/a.md", "staging/more.txt")
    schema: Json = {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "integer"}}}
    listed = "=== RESULT ===\nIt contains:\n- a.md, in Markdown\n- b.json, in JSON"
    reply = await converse(steps=[{"artifacts": {"b": {"n": 1}, "a": None}}], schema=schema).send(listed)
    assert output(reply) == {"b": {"n": 1}}
    single_file = "=== RESULT ===\nReply with the complete content of a.md, in Markdown."
    assert (await converse(steps=[{"artifacts": {"a": "Given."}}]).send(single_file)).text == "Given."
    object_prompt = "=== RESULT ===\nIt contains:\n- data.json, in JSON"
    reply = await converse(steps=[{"artifacts": {"data": {"n": "wrong"}}}], schema=schema).send(object_prompt)
    assert output(reply) == {"n": "wrong"}


async def test_a_tool_call_is_scripted_once_per_conversation() -> None:
    """Arguments that the script omits are generated."""
    conversation: SimulatedConversation = converse(
        ASK, steps=[{"use": "ask_human", "arguments": {"question": "Which one?"}}]
    )
    response = await conversation.send("Say hello.")
    assert tool_calls(response) == [("ask_human", {"question": "Which one?"})]
    assert tool_calls(await conversation.return_tool_results(response, "The first.")) == []
    absent = converse(steps=[{"use": "request_rework"}])
    assert tool_calls(await absent.send("Say hello.")) == []
    bare = await converse(ASK, steps=[{"use": "ask_human"}]).send("Say hello.")
    assert tool_calls(bare)[0][1]["question"] != ""
