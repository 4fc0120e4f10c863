"""Library agents as documents, and definitions that refer to them."""

from __future__ import annotations

from typing import Any

import pytest

from cairn.definitions import (
    AgentError,
    Finding,
    LibraryAgent,
    builtin_agents,
    builtin_templates,
    check,
    load,
    read_agent,
    resolve,
    uses_library,
)
from cairn.definitions.findings import errors
from cairn.documents import decode_yaml
from tests.mentions import mentions

Json = dict[str, Any]
NUMBER: Json = {"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}}
WORD: Json = {"type": "object", "required": ["word"], "properties": {"word": {"type": "string"}}}
LIBRARY = {
    "counter": LibraryAgent(
        name="counter",
        title="The counter",
        role="You count.",
        task_prompt="Count.",
        tools=("ask_human",),
        model="simulated:default",
        model_settings={"seed": 1},
        output_schema=NUMBER,
    ),
    "writer": LibraryAgent(name="writer", role="You write.", input_schema=WORD),
}


def step(key: str, agent: Any, **more: Any) -> Json:
    return {"key": key, "agent": agent, "outputs": [{"name": key, "format": "json"}], **more}


def pipeline(*checkpoints: Json) -> Json:
    return {"pipeline_name": "Library", "checkpoints": list(checkpoints)}


def errors_of(*checkpoints: Json) -> list[tuple[str, str]]:
    return [(found.path, found.message) for found in errors(check(pipeline(*checkpoints), agents=LIBRARY))]


def test_builtin_agents_are_valid_and_cover_the_templates() -> None:
    """Each agent has the name of its file and a description. Templates use only these agents."""
    ready = builtin_agents()
    assert {
        *("ticket-analyzer", "customer-data", "solution-generator", "refund-writer", "business-analyst"),
        *("requirements-engineer", "designer", "developer", "tester", "critic", "judge"),
    } <= set(ready)
    assert all(agent.description and agent.role and agent.display_name != agent.name for agent in ready.values())
    for template in builtin_templates():
        document, positions = template.read()
        assert check(document, positions=positions, agents=ready) == []
    refer = [template.name for template in builtin_templates() if uses_library(load(template.read()[0]).definition)]
    assert len(refer) == 6


@pytest.mark.parametrize(
    ("text", "findings"),
    [
        ("role: You count.", [("", mentions("`name`"))]),
        (
            "name: counter",
            [("", mentions("`role`", "`system_prompt`", "`task_prompt`"))],
        ),
        ("name: a/b\nrole: x", [("/name", mentions("2", "100"))]),
        ("name: ' counter'\nrole: x", [("/name", mentions("2", "100"))]),
        ("name: counter\nrole: x\ntool: []", [("", mentions("`tool`", "`tools`"))]),
        ("name: counter\nrole: x\ntools: [saw]", [("/tools/0", mentions("file_operations"))]),
        (
            "name: counter\nrole: x\ntools: ['mcp:hub']",
            [("/tools/0", mentions("MCP", "'hub'", "'hubs'"))],
        ),
        (
            "name: counter\nrole: x\noutput_schema: { type: numbr }",
            [("/output_schema/type", mentions("JSON"))],
        ),
        ("name: counter\nrole: x\ninput_schema: { pattern: '(' }", [("/input_schema/pattern", mentions('"("'))]),
        ("[]", [("", mentions("[]"))]),
    ],
)
def test_errors_of_an_agent_are_reported_with_their_path(text: str, findings: list[tuple[str, str]]) -> None:
    document, positions = decode_yaml(text)
    with pytest.raises(AgentError) as caught:
        read_agent(document, positions=positions, servers=["hubs"])
    found = caught.value.findings
    assert [finding.path for finding in found] == [path for path, _ in findings]
    for finding, (_, message) in zip(found, findings, strict=True):
        assert finding.message == message
        assert finding.line is not None


def test_an_unknown_agent_is_rejected_with_a_suggestion() -> None:
    assert errors_of(step("one", "countr")) == [("/checkpoints/0/agent", mentions("'countr'", "'counter'"))]
    team: Json = {"creation_mode": "predefined", "agents": [{"library_agent": "counter"}, {"library_agent": "nobody"}]}
    (found,) = errors_of({"key": "two", "prompt": "Count.", "execution": {"mode": "agentic", "agent_config": team}})
    assert found == (
        "/checkpoints/0/execution/agent_config/agents/1/library_agent",
        mentions("'nobody'", "'counter'", "'writer'"),
    )
    assert check(pipeline(step("one", "countr"))) == []  # without a library, any agent is valid


def test_two_agents_of_a_checkpoint_cannot_have_the_same_name() -> None:
    team: Json = {"creation_mode": "predefined", "agents": [{"library_agent": "counter"}, {"library_agent": "counter"}]}
    (found,) = errors_of({"key": "two", "prompt": "Count.", "execution": {"mode": "agentic", "agent_config": team}})
    assert found[1] == mentions("'The counter'", "/checkpoints/0/execution/agent_config/agents/0")
    team["agents"][1]["name"] = "Another"
    assert errors_of({"key": "two", "prompt": "Count.", "execution": {"mode": "agentic", "agent_config": team}}) == []


def test_an_agent_needs_a_task() -> None:
    (found,) = errors_of(step("one", "counter"), step("two", "writer", input_mapping={"word": "input.word"}))
    assert found == ("/checkpoints/1/agent", mentions("'writer'"))
    assert errors_of(step("two", "writer", prompt="Write it down.", input_mapping={"word": "input.word"})) == []


def test_the_schemas_of_agents_are_checked_against_each_other() -> None:
    """The output of an agent must match the input of the next."""
    counted = step("count", "counter")
    write: Json = {"prompt": "Write it down."}
    (found,) = errors_of(counted, step("write", "writer", input_mapping={"word": "count.n"}, **write))
    assert found == ("/checkpoints/1/input_mapping/word", mentions("count.n", "integer", "string"))
    (found,) = errors_of(counted, step("write", "writer", input_mapping={"word": "count.word"}, **write))
    assert found == ("/checkpoints/1/input_mapping/word", mentions("count.word", "'word'"))
    (found,) = errors_of(counted, step("write", "writer", input_mapping={"other": "count.n"}, **write))
    assert found[1] == mentions("'word'", "input_mapping")
    own = {"input_schema": {"type": "object", "properties": {"other": {"type": "integer"}}}}
    assert errors_of(counted, step("write", "writer", input_mapping={"other": "count.n"}, **write, **own)) == []


def test_settings_of_the_checkpoint_override_those_of_the_library_agent() -> None:
    document = pipeline(
        step("one", "counter"),
        step("two", {"library_agent": "counter", "name": "Two", "role": "You doubt.", "tools": [], "model": "a:b"}),
        step("three", {"library_agent": "gone"}),
        {**step("four", "counter"), "outputs": [{"name": "four", "format": "json", "schema": WORD}]},
    )
    definition = load(document).definition
    resolved = resolve(definition, LIBRARY)
    agents = [
        checkpoint.execution.agent_config.agent
        for checkpoint in resolved.checkpoints
        if checkpoint.execution.agent_config
    ]
    shown = [agent.document for agent in agents if agent is not None]
    counter: Json = {
        "name": "The counter",
        "role": "You count.",
        "task_prompt": "Count.",
        "tools": ["ask_human"],
        "model": "simulated:default",
        "model_settings": {"seed": 1},
    }
    assert [{key: value for key, value in agent.items() if value is not None} for agent in shown] == [
        counter,
        {**counter, "name": "Two", "role": "You doubt.", "tools": [], "model": "a:b"},
        {"library_agent": "gone"},
        counter,
    ]
    assert [checkpoint.output_schema for checkpoint in resolved.checkpoints] == [NUMBER, NUMBER, None, None]
    assert resolved.by_key["one"] is resolved.checkpoints[0]
    assert definition == load(document).definition
    assert resolve(definition, {}) == definition
    plain = load(pipeline({"key": "one", "prompt": "Count."})).definition
    assert resolve(plain, LIBRARY) is plain


def test_an_agent_error_has_findings() -> None:
    with pytest.raises(AgentError) as caught:
        read_agent({"name": "counter"})
    assert [type(finding) for finding in caught.value.findings] == [Finding]
    assert caught.value.noun == "agent"
