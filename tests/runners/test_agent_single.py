"""A checkpoint with one agent, from its prompt to its result."""

from __future__ import annotations

from pathlib import Path

import pytest

from cairn.ports import ArtifactSource, InvalidResult, Produced, ResolvedInputs
from cairn.ports.conversation import Purpose
from cairn.ports.models import ModelError, ModelErrorKind
from tests.mentions import mentions
from tests.runners.agent_samples import (
    AgentBench,
    FakeConversation,
    FakeModels,
    ToolCall,
    failure_of,
    final_result,
    texts,
)
from tests.runners.test_fencing import read_markdown
from tests.runners.work_orders import stored

SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"], "additionalProperties": False}


def agents(tmp_path: Path, *replies: object) -> AgentBench:
    return AgentBench(tmp_path, FakeModels.replying(*replies))  # pyright: ignore[reportArgumentType]


async def test_a_text_answer_becomes_the_artifact_and_every_message_is_saved(tmp_path: Path) -> None:
    bench = agents(tmp_path, "# Report\n\nAll is well.")
    assert await bench.texts("report.md") == {"report.md": "# Report\n\nAll is well."}
    (request,) = bench.models.requests
    assert request.system.startswith("You write.\n\n")
    assert request.prompt.startswith("=== YOUR TASK ===\nDo it.\n\n=== RESULT ===\n")
    assert request.prompt.partition("=== RESULT ===\n")[2] == mentions("report.md", "Markdown")
    assert [
        (message.turn, message.number, message.speaker, message.role, message.text, message.is_last)
        for message in bench.conversation.saved
    ] == [
        ("work", 1, "Step", "system", request.system, False),
        ("work", 2, "Step", "user", request.prompt, False),
        ("work", 3, "Writer", "assistant", "# Report\n\nAll is well.", True),
    ]
    answer = bench.conversation.saved[-1]
    assert (answer.model, answer.is_simulated, answer.purpose) == ("fake:default", False, Purpose.WORK)
    assert answer.tokens is not None
    assert answer.cost is not None
    assert answer.tokens.output > 0
    assert "".join(chunk.text for chunk in bench.conversation.chunks) == "# Report\n\nAll is well."
    assert {(chunk.turn, chunk.number, chunk.speaker, chunk.kind) for chunk in bench.conversation.chunks} == {
        ("work", 3, "Writer", "text")
    }


async def test_an_object_answer_is_requested_with_its_schema_and_corrected_until_it_matches(tmp_path: Path) -> None:
    bench = agents(tmp_path, final_result({"n": "one"}), "just words", final_result({"n": 1}))
    assert await bench.texts({"name": "count", "format": "json", "schema": SCHEMA}) == {"count.json": '{"n":1}'}
    first, second, third = bench.models.requests
    assert first.schema == SCHEMA
    assert second.last == mentions("count.json#/n", '"one"')
    assert third.last == mentions("JSON")
    assert [message.role for message in bench.conversation.saved] == [
        "system",
        "user",
        "assistant",
        "tool",
        "assistant",
        "user",
        "assistant",
    ]


async def test_an_answer_that_stays_invalid_fails_validation_and_keeps_the_artifact(tmp_path: Path) -> None:
    bench = agents(tmp_path, *[final_result({"n": "one"})] * 3)
    outcome = await bench.run({"name": "count", "format": "json", "schema": SCHEMA})
    assert isinstance(outcome, InvalidResult)
    assert texts(outcome.artifacts) == {"count.json": '{"n":"one"}'}
    assert outcome.error.type == "invalid_output"
    assert len(bench.models.requests) == 3
    bench = agents(tmp_path, *["no JSON"] * 3)
    outcome = await bench.run({"name": "count", "format": "json", "schema": SCHEMA})
    assert isinstance(outcome, InvalidResult)
    assert outcome.error.message == mentions("count.json", "JSON")


async def test_several_artifacts_are_properties_of_one_object(tmp_path: Path) -> None:
    list_of = {
        "type": "object",
        "properties": {"tree": {"$ref": "#/$defs/Node"}},
        "$defs": {"Node": {"type": "array", "items": {"$ref": "#/$defs/Node"}}},
    }
    bench = agents(
        tmp_path,
        final_result({"data": {"tree": [1]}, "notes_1": "x", "more": 1}),
        final_result({"data": {"tree": [[], [[]]]}, "notes_1": "# Notes", "free": [1, 2]}),
    )
    outputs = [
        {"name": "data", "format": "json", "schema": list_of},
        {"name": "notes 1", "format": "md", "description": "Short ones."},
        {"name": "free", "format": "json"},
    ]
    assert await bench.texts(*outputs) == {
        "data.json": '{"tree":[[],[[]]]}',
        "notes 1.md": "# Notes",
        "free.json": "[1,2]",
    }
    first, second = bench.models.requests
    assert first.schema == {
        "type": "object",
        "properties": {
            "data": {
                "description": mentions("data.json", "JSON"),
                "type": "object",
                "properties": {"tree": {"$ref": "#/$defs/data-Node"}},
            },
            "notes_1": {"description": mentions("notes 1.md", "Markdown", "Short ones."), "type": "string"},
            "free": {"description": mentions("free.json", "JSON")},
        },
        "required": ["data", "notes_1", "free"],
        "additionalProperties": False,
        "$defs": {"data-Node": {"type": "array", "items": {"$ref": "#/$defs/data-Node"}}},
    }
    assert second.last == mentions("- data.json#/tree/0: ", "- free.json: ", "'free'", "'more'")


async def test_an_agent_with_file_operations_writes_each_artifact_to_staging(tmp_path: Path) -> None:
    bench = agents(
        tmp_path,
        ToolCall("write_file", {"path": "report.md", "content": "# One\n"}),
        "Done.",
        ToolCall("write_file", {"path": "artifacts_staging/data.json", "content": '{"n": 1}'}),
        ToolCall("edit_file", {"path": "artifacts_staging/report.md", "old": "One", "new": "Two"}),
        "Done.",
    )
    outputs = ["report.md", {"name": "data", "format": "json", "schema": SCHEMA}]
    assert await bench.texts(*outputs, agent={"tools": ["file_operations"]}) == {
        "report.md": "# Two\n",
        "data.json": '{"n": 1}',
    }
    requests = bench.models.requests
    assert requests[0].schema is None
    assert requests[0].tools == [
        "list_files",
        "read_file",
        "write_file",
        "edit_file",
        "search_files",
        "copy_file",
        "delete_file",
    ]
    assert requests[0].prompt == mentions(
        "- artifacts_staging/report.md", "- artifacts_staging/data.json", "```json\n{"
    )
    assert requests[1].last == mentions("artifacts_staging/report.md", "6")
    assert requests[2].last == mentions("artifacts_staging/data.json")
    assert next(message.text for message in bench.conversation.saved if message.role == "tool") == requests[1].last


async def test_missing_invalid_and_undeclared_files_fail_validation(tmp_path: Path) -> None:
    bench = agents(
        tmp_path,
        [
            ToolCall("write_file", {"path": "artifacts_staging/other.md", "content": "x"}),
            ToolCall("write_file", {"path": "artifacts_staging/data.json", "content": "{n: 1}"}),
        ],
        *["Done."] * 3,
    )
    outcome = await bench.run("report.md", "data.json", agent={"tools": ["file_operations"]})
    assert isinstance(outcome, InvalidResult)
    assert outcome.error.message == mentions("- report.md: ", "- other.md: ", "report.md, data.json")


async def test_a_file_that_waited_for_approval_gets_its_declared_name_back(tmp_path: Path) -> None:
    """A revision can edit the file."""
    bench = agents(tmp_path, ToolCall("edit_file", {"path": "report.md", "old": "One", "new": "Two"}), "Done.")
    work = bench.work("report.md", agent={"tools": ["file_operations"]})
    artifact = work.checkpoint.output.artifacts[0]
    staging = tmp_path / "exec" / "artifacts_staging"
    staging.mkdir()
    from cairn.runners import artifact_id

    (staging / f"report_{artifact_id(work.checkpoint, artifact.name)[:8]}.md").write_text("# One\n")
    outcome = await bench.runner.run(work)
    assert isinstance(outcome, Produced)
    assert texts(outcome.artifacts) == {"report.md": "# Two\n"}


async def test_without_declared_outputs_the_answer_is_stored_and_a_decision_has_its_schema(tmp_path: Path) -> None:
    bench = agents(tmp_path, "All is well.")
    assert await bench.texts() == {"output.md": "All is well."}
    assert bench.models.requests[0].prompt == "=== YOUR TASK ===\nDo it."
    bench = agents(tmp_path, final_result({"decision": "RESTART", "reason": "Not yet."}))
    outcome = await bench.run(fields={"decides": True})
    assert isinstance(outcome, Produced)
    assert (texts(outcome.artifacts), outcome.pass_decision) == (
        {"output.json": '{"decision":"RESTART","reason":"Not yet."}'},
        "RESTART",
    )


async def test_the_prompt_has_all_sections_in_order(tmp_path: Path) -> None:
    """All kinds of content. The snapshot `context` has the complete text."""
    bench = agents(tmp_path, "Done.")
    inputs = ResolvedInputs(
        previous=ArtifactSource("Step", 2, 1, (stored("report", "md", "# Old", "runs/v1/report.md"),)),
        completed={
            "goals": ArtifactSource("Goals", 0, 2, (stored("goals", "json", '{"a": 1}', "runs/v2/goals.json"),))
        },
        feedback=("Shorter, please.",),
        original_prompt="Make an app.",
        input={"ticket": "It ```breaks```."},
        findings="- report.md: too long",
    )
    fields = {
        "instructions": {
            "system_prompt": "The checkpoint's words.",
            "task_prompt": "Do it.",
            "examples": [{"input": {"a": 1}, "output": {"b": 2}}],
        },
        "inputs": {
            "include_previous_version": True,
            "include_checkpoint_outputs": [{"checkpoint_id": "goals"}],
        },
    }
    work = bench.work("report.md", agent={"task_prompt": "Write it down."}, fields=fields, resolved=inputs)
    await bench.runner.run(work)
    (request,) = bench.models.requests
    assert request.system.startswith("The checkpoint's words.\n\nYou write.\n\n=== EXAMPLES ===\n\n")
    assert read_markdown(request.system)[1] == ['{\n  "a": 1\n}', '{\n  "b": 2\n}']
    headings, contents = read_markdown(request.prompt)
    assert headings == [
        "=== ORIGINAL PROMPT ===",
        "=== INPUT ===",
        "=== PREVIOUS VERSION: Checkpoint 3 from v1 ===",
        "=== REFERENCED OUTPUT: Checkpoint 1 from v2 ===",
        "=== YOUR TASK ===",
        "=== VALIDATION FINDINGS ===",
        "=== REVISION FEEDBACK ===",
        "=== RESULT ===",
    ]
    assert contents == [
        "Make an app.",
        '{\n  "ticket": "It ```breaks```."\n}',
        "# Old",
        '{"a": 1}',
        "- report.md: too long",
        "Shorter, please.",
    ]
    assert "=== YOUR TASK ===\nDo it.\n\nWrite it down.\n\n" in request.prompt
    for name, path in (("report.md", "runs/v1/report.md"), ("goals.json", "runs/v2/goals.json")):
        assert f"\nFile: {name}\nPath: {path}\n\n" in request.prompt


@pytest.mark.parametrize(
    ("format", "answer", "content"),
    [
        ("py", "```python\nprint(1)\n```", "print(1)\n"),
        ("md", "```markdown\n# A\n```", "# A\n"),
        ("md", "```\ncode\n```", "```\ncode\n```"),
        ("mmd", "```mermaid\ngraph TB\n```\n", "graph TB\n"),
        ("csv", "a,b\n1,2\n", "a,b\n1,2\n"),
        ("txt", "```\na\n```\nand\n```\nb\n```", "```\na\n```\nand\n```\nb\n```"),
        ("html", "<p>Hi</p>", "<p>Hi</p>"),
    ],
)
async def test_a_fence_around_a_file_is_removed(tmp_path: Path, format: str, answer: str, content: str) -> None:
    assert await agents(tmp_path, answer).texts(f"file.{format}") == {f"file.{format}": content}


async def test_context_over_the_limit_fails_before_the_model_call_and_lists_sizes(tmp_path: Path) -> None:
    bench = agents(tmp_path)
    inputs = ResolvedInputs(input={"text": "x" * 300_000})
    kind, message, is_final = failure_of(await bench.runner.run(bench.work("report.md", resolved=inputs)))
    assert (kind, is_final, bench.models.requests) == ("context_too_long", True, [])
    assert "- INPUT: 300," in message


@pytest.mark.parametrize(
    ("kind", "is_final"),
    [
        (ModelErrorKind.AUTHENTICATION, True),
        (ModelErrorKind.QUOTA, True),
        (ModelErrorKind.CONTEXT_TOO_LONG, True),
        (ModelErrorKind.REJECTED, True),
        (ModelErrorKind.OVERLOAD, False),
        (ModelErrorKind.NETWORK, False),
        (ModelErrorKind.REFUSAL, False),
    ],
)
async def test_model_errors_become_final_or_transient_failures(
    tmp_path: Path, kind: ModelErrorKind, is_final: bool
) -> None:
    bench = agents(tmp_path, ModelError(kind, "The message."))
    assert failure_of(await bench.run("report.md")) == (kind.value, "The message.", is_final)


async def test_empty_answers_are_requested_again_and_then_fail(tmp_path: Path) -> None:
    bench = agents(tmp_path, " ", "\n", "Now.")
    assert await bench.texts("a.txt") == {"a.txt": "Now."}
    bench = agents(tmp_path, *[" "] * 3)
    bench.conversation = FakeConversation()
    assert failure_of(await bench.run("a.txt"))[0] == "bad_answer"


async def test_a_model_that_only_calls_tools_is_stopped(tmp_path: Path) -> None:
    bench = AgentBench(tmp_path, FakeModels(lambda _: ToolCall("list_files", {})))
    kind, message, _ = failure_of(await bench.run("a.txt", agent={"tools": ["file_operations"]}))
    assert kind == "bad_answer"
    assert message == mentions("60")


async def test_the_agents_model_and_settings_override_the_checkpoints(tmp_path: Path) -> None:
    bench = agents(tmp_path, "x", "x")
    config = {"model": "fake:checkpoint", "model_settings": {"temperature": 0.1, "max_tokens": 10}}
    await bench.run("a.txt", config={**config, "agent": {"name": "A"}})
    bench.conversation = FakeConversation()
    agent = {"name": "A", "model": "fake:agent", "model_settings": {"max_tokens": 20}}
    await bench.run("a.txt", config={**config, "agent": agent})
    assert bench.models.chosen == [
        ("fake:checkpoint", {"temperature": 0.1, "max_tokens": 10}),
        ("fake:agent", {"temperature": 0.1, "max_tokens": 20}),
    ]
