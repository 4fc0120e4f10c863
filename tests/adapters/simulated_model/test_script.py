"""Replies of the simulated model can be scripted by checkpoint, attempt and call, for users' own tests."""

from __future__ import annotations

from typing import Any

import pytest

from cairn.adapters.models.catalogue import ModelPolicy, PydanticAiModels
from cairn.adapters.simulated_model import SimulatedModelFactory
from cairn.ports.models import ANSWERED_BY, ModelCallContext, ModelError
from cairn.ports.models import ModelErrorKind as Kind
from tests.adapters.models.requests import no_secret, streamed, whole
from tests.adapters.simulated_model.requests import ASK, INPUT, TASK, WRITE, Json, Talk, output, talk, uses
from tests.mentions import mentions

FILES = "=== RESULT ===\nWrite these files:\n- staging/a.md, in Markdown\n- staging/b.json, in JSON"
KINDS = [kind for kind in Kind if kind is not Kind.NOT_CONFIGURED]


def models(simulated: SimulatedModelFactory | None = None, **more: Any) -> PydanticAiModels:
    given: dict[str, Any] = {"first_wait": 0.0, **more}
    return PydanticAiModels(ModelPolicy(**given), no_secret, {}, simulated or SimulatedModelFactory())


def call_context(**more: Any) -> ModelCallContext:
    return ModelCallContext("one", **more)


def scripted(*steps: Json) -> Json:
    return {"simulation": list(steps)}


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in (Kind.REFUSAL, Kind.BAD_ANSWER)])
async def test_it_fails_in_a_chosen_way(kind: Kind) -> None:
    """As a provider would: told apart, tried again or not; also by the name alone."""
    for name, settings in (
        ("simulated:default", scripted({"fail": kind.value})),
        (f"simulated:{kind.value.replace('_', '-')}", {}),
    ):
        told: list[str] = []
        for ask in (streamed, whole):
            told.clear()
            with pytest.raises(ModelError) as raised:
                await ask(models().choose(name, settings, ModelCallContext(notify=told.append)))
            assert raised.value.kind is kind
            assert str(raised.value).startswith(f"{name}: ")
            assert len(told) == (2 if raised.value.is_transient else 0)


async def test_refusals_and_answers_that_cannot_be_read() -> None:
    refused = await talk(steps=[{"fail": "refusal"}]).say("Go.")
    assert refused.finish_reason == "content_filter"
    bad = await talk(steps=[{"fail": "bad_answer"}], schema={"type": "object"}).say("Go.")
    assert [call.args for call in bad.tool_calls] == ['{"half']
    assert (await talk(steps=[{"fail": "bad_answer"}]).say("Go.")).text == '{"half'


async def test_on_a_chosen_attempt_of_an_execution() -> None:
    steps = scripted({"attempt": [1, 2], "fail": "overload"}, {"say": "There."})
    adapter = models(tries=1)
    for attempt in (1, 2):
        with pytest.raises(ModelError):
            await streamed(adapter.choose(None, steps, call_context(attempt=attempt)))
    assert (await streamed(adapter.choose(None, steps, call_context(attempt=3)))).text == "There."


async def test_on_a_chosen_call() -> None:
    """Counted by execution and attempt, also over the tries of one request; each execution begins anew."""
    steps = scripted({"call": 1, "fail": "rate_limit", "retry_after": 0}, {"say": "There."})
    adapter = models()
    for execution in ("one", "two"):
        told: list[str] = []
        chosen = adapter.choose(None, steps, ModelCallContext(execution_id=execution, notify=told.append))
        response = await streamed(chosen)
        assert (response.text, len(told)) == ("There.", 1)
        assert (response.metadata or {})[ANSWERED_BY] == "simulated:default"
        assert (await streamed(chosen)).text == "There."
    assert (await streamed(adapter.choose(None, steps, ModelCallContext("one", attempt=2)))).text == "There."


async def test_after_some_characters() -> None:
    told: list[str] = []
    steps = scripted({"call": 1, "fail": "network", "after": 20})
    events: list[Any] = []
    response = await streamed(models().choose(None, steps, ModelCallContext("one", notify=told.append)), events)
    assert (len(told), response.state) == (1, "complete")
    with pytest.raises(ModelError) as raised:
        await streamed(models(tries=1).choose(None, scripted({"fail": "network", "after": 5}), call_context()))
    assert raised.value.kind is Kind.NETWORK


async def test_by_words_of_the_prompt_and_by_checkpoint() -> None:
    steps: list[Json] = [
        {"when": "NOTHING LIKE IT", "say": "no"},
        {"checkpoint": "other", "say": "not here"},
        {"when": "invoice EXPORT", "checkpoint": "draft", "say": "Yes."},
    ]
    assert (await talk(steps=steps, call_context=ModelCallContext(checkpoint="draft")).say(INPUT + TASK)).text == "Yes."
    everywhere = SimulatedModelFactory(steps=lambda: steps)
    assert (
        await talk(simulated=everywhere, call_context=ModelCallContext(checkpoint="draft")).say(INPUT + TASK)
    ).text == "Yes."
    own = talk(simulated=everywhere, steps=[{"say": "Mine first."}], call_context=ModelCallContext(checkpoint="draft"))
    assert (await own.say(INPUT + TASK)).text == "Mine first."
    assert "invoice" in ((await talk(simulated=everywhere).say(INPUT + TASK)).text or "")


async def test_given_words_and_objects() -> None:
    schema: Json = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
    assert output(await talk(steps=[{"output": {"a": "not a number"}}], schema=schema).say("Go.")) == {
        "a": "not a number"
    }
    assert output(await talk(steps=[{"say": '{"a": 3}'}], schema=schema).say("Go.")) == {"a": 3}
    assert (await talk(steps=[{"say": "No JSON."}], schema=schema).say("Go.")).text == "No JSON."
    assert (await talk(steps=[{"output": [1]}]).say("Go.")).text == "[1]"
    assert (await talk(steps=[{"say": ""}]).say("Go.")).text == ""


async def test_given_artifacts() -> None:
    """Omitted, given, and one too many."""
    steps: list[Json] = [{"artifacts": {"a": "# Given\n", "b.json": None, "more.txt": "Not asked for."}}]
    talking = talk(WRITE, steps=steps)
    written = await talking.say(TASK + FILES)
    assert uses(written) == [
        ("write_file", {"path": "staging/a.md", "content": "# Given\n"}),
        ("write_file", {"path": "staging/more.txt", "content": "Not asked for."}),
    ]
    done = await talking.answer(written)
    assert done.text == mentions("staging/a.md", "staging/more.txt")
    schema: Json = {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "integer"}}}
    listed = "=== RESULT ===\nIt holds:\n- a.md, in Markdown\n- b.json, in JSON"
    made = await talk(steps=[{"artifacts": {"b": {"n": 1}, "a": None}}], schema=schema).say(listed)
    assert output(made) == {"b": {"n": 1}}
    one = "=== RESULT ===\nYour answer is the content of a.md, in Markdown."
    assert (await talk(steps=[{"artifacts": {"a": "Given."}}]).say(one)).text == "Given."
    whole_object = "=== RESULT ===\nIt holds:\n- data.json, in JSON"
    made = await talk(steps=[{"artifacts": {"data": {"n": "wrong"}}}], schema=schema).say(whole_object)
    assert output(made) == {"n": "wrong"}


async def test_a_given_tool() -> None:
    """With what is given; the rest is made up; once in a conversation."""
    talking: Talk = talk(ASK, steps=[{"use": "ask_human", "arguments": {"question": "Which one?"}}])
    response = await talking.say("Say hello.")
    assert uses(response) == [("ask_human", {"question": "Which one?"})]
    assert uses(await talking.answer(response, "The first.")) == []
    absent = talk(steps=[{"use": "request_rework"}])
    assert uses(await absent.say("Say hello.")) == []
    bare = await talk(ASK, steps=[{"use": "ask_human"}]).say("Say hello.")
    assert uses(bare)[0][1]["question"] != ""
