"""One agent, from what it is told to what it hands over."""

from __future__ import annotations

from pathlib import Path

import pytest

from cairn.ports import ArtifactSource, InvalidResult, Produced, ResolvedInputs
from cairn.ports.conversation import Purpose
from cairn.ports.models import ModelError, ModelErrorKind
from tests.mentions import mentions
from tests.runners.agent_samples import Agents, FakeModels, Kept, Uses, faulted, hands_over, texts
from tests.runners.test_fencing import read_markdown
from tests.runners.work_orders import stored

SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"], "additionalProperties": False}


def agents(tmp_path: Path, *replies: object) -> Agents:
    return Agents(tmp_path, FakeModels.saying(*replies))  # pyright: ignore[reportArgumentType]


async def test_a_text_is_the_answer_and_the_conversation_is_kept_whole(tmp_path: Path) -> None:
    bench = agents(tmp_path, "# Report\n\nAll is well.")
    assert await bench.texts("report.md") == {"report.md": "# Report\n\nAll is well."}
    (asked,) = bench.models.asked
    assert asked.system.startswith("You write.\n\n")
    assert asked.prompt.startswith("=== YOUR TASK ===\nDo it.\n\n=== RESULT ===\n")
    assert asked.prompt.partition("=== RESULT ===\n")[2] == mentions("report.md", "Markdown")
    assert [(one.turn, one.number, one.speaker, one.role, one.text, one.is_last) for one in bench.kept.all] == [
        ("work", 1, "Step", "system", asked.system, False),
        ("work", 2, "Step", "user", asked.prompt, False),
        ("work", 3, "Writer", "assistant", "# Report\n\nAll is well.", True),
    ]
    answer = bench.kept.all[-1]
    assert (answer.model, answer.is_simulated, answer.purpose) == ("fake:default", False, Purpose.WORK)
    assert answer.tokens is not None
    assert answer.cost is not None
    assert answer.tokens.output > 0
    assert "".join(one.text for one in bench.kept.heard) == "# Report\n\nAll is well."
    assert {(one.turn, one.number, one.speaker, one.kind) for one in bench.kept.heard} == {
        ("work", 3, "Writer", "text")
    }


async def test_an_object_is_asked_for_by_its_schema_and_corrected_until_it_fits(tmp_path: Path) -> None:
    bench = agents(tmp_path, hands_over({"n": "one"}), "just words", hands_over({"n": 1}))
    assert await bench.texts({"name": "count", "format": "json", "schema": SCHEMA}) == {"count.json": '{"n":1}'}
    first, second, third = bench.models.asked
    assert first.schema == SCHEMA
    assert second.last == mentions("count.json#/n", '"one"')
    assert third.last == mentions("JSON")
    assert [one.role for one in bench.kept.all] == [
        "system",
        "user",
        "assistant",
        "tool",
        "assistant",
        "user",
        "assistant",
    ]


async def test_what_never_fits_is_a_validation_failure_with_what_came(tmp_path: Path) -> None:
    bench = agents(tmp_path, *[hands_over({"n": "one"})] * 3)
    outcome = await bench.run({"name": "count", "format": "json", "schema": SCHEMA})
    assert isinstance(outcome, InvalidResult)
    assert texts(outcome.artifacts) == {"count.json": '{"n":"one"}'}
    assert outcome.error.type == "invalid_output"
    assert len(bench.models.asked) == 3
    bench = agents(tmp_path, *["no JSON"] * 3)
    outcome = await bench.run({"name": "count", "format": "json", "schema": SCHEMA})
    assert isinstance(outcome, InvalidResult)
    assert outcome.error.message == mentions("count.json", "JSON")


async def test_several_artifacts_are_members_of_one_object(tmp_path: Path) -> None:
    list_of = {
        "type": "object",
        "properties": {"tree": {"$ref": "#/$defs/Node"}},
        "$defs": {"Node": {"type": "array", "items": {"$ref": "#/$defs/Node"}}},
    }
    bench = agents(
        tmp_path,
        hands_over({"data": {"tree": [1]}, "notes_1": "x", "more": 1}),
        hands_over({"data": {"tree": [[], [[]]]}, "notes_1": "# Notes", "free": [1, 2]}),
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
    first, second = bench.models.asked
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


async def test_with_files_the_agent_writes_each_artifact_to_staging(tmp_path: Path) -> None:
    bench = agents(
        tmp_path,
        Uses("write_file", {"path": "report.md", "content": "# One\n"}),
        "Done.",
        Uses("write_file", {"path": "artifacts_staging/data.json", "content": '{"n": 1}'}),
        Uses("edit_file", {"path": "artifacts_staging/report.md", "old": "One", "new": "Two"}),
        "Done.",
    )
    outputs = ["report.md", {"name": "data", "format": "json", "schema": SCHEMA}]
    assert await bench.texts(*outputs, agent={"tools": ["file_operations"]}) == {
        "report.md": "# Two\n",
        "data.json": '{"n": 1}',
    }
    asked = bench.models.asked
    assert asked[0].schema is None
    assert asked[0].tools == [
        "list_files",
        "read_file",
        "write_file",
        "edit_file",
        "search_files",
        "copy_file",
        "delete_file",
    ]
    assert asked[0].prompt == mentions("- artifacts_staging/report.md", "- artifacts_staging/data.json", "```json\n{")
    assert asked[1].last == mentions("artifacts_staging/report.md", "6")
    assert asked[2].last == mentions("artifacts_staging/data.json")
    assert next(one.text for one in bench.kept.all if one.role == "tool") == asked[1].last


async def test_files_that_are_missing_ill_formed_or_not_asked_for_are_a_validation_failure(tmp_path: Path) -> None:
    bench = agents(
        tmp_path,
        [
            Uses("write_file", {"path": "artifacts_staging/other.md", "content": "x"}),
            Uses("write_file", {"path": "artifacts_staging/data.json", "content": "{n: 1}"}),
        ],
        *["Done."] * 3,
    )
    outcome = await bench.run("report.md", "data.json", agent={"tools": ["file_operations"]})
    assert isinstance(outcome, InvalidResult)
    assert outcome.error.message == mentions("- report.md: ", "- other.md: ", "report.md, data.json")


async def test_what_waited_for_approval_is_called_by_its_own_name_again(tmp_path: Path) -> None:
    """In a revision the agent finds what it had made."""
    bench = agents(tmp_path, Uses("edit_file", {"path": "report.md", "old": "One", "new": "Two"}), "Done.")
    work = bench.work("report.md", agent={"tools": ["file_operations"]})
    artifact = work.checkpoint.output.artifacts[0]
    staging = tmp_path / "exec" / "artifacts_staging"
    staging.mkdir()
    from cairn.runners import artifact_id

    (staging / f"report_{artifact_id(work.checkpoint, artifact.name)[:8]}.md").write_text("# One\n")
    outcome = await bench.runner.run(work)
    assert isinstance(outcome, Produced)
    assert texts(outcome.artifacts) == {"report.md": "# Two\n"}


async def test_nothing_declared_keeps_the_answer_and_a_deciding_one_has_its_form(tmp_path: Path) -> None:
    bench = agents(tmp_path, "All is well.")
    assert await bench.texts() == {"output.md": "All is well."}
    assert bench.models.asked[0].prompt == "=== YOUR TASK ===\nDo it."
    bench = agents(tmp_path, hands_over({"decision": "RESTART", "reason": "Not yet."}))
    outcome = await bench.run(given={"decides": True})
    assert isinstance(outcome, Produced)
    assert (texts(outcome.artifacts), outcome.pass_decision) == (
        {"output.json": '{"decision":"RESTART","reason":"Not yet."}'},
        "RESTART",
    )


async def test_the_prompt_has_everything_in_its_place(tmp_path: Path) -> None:
    """Everything that an agent can be given. The snapshot `context` has the whole text."""
    bench = agents(tmp_path, "Done.")
    found = ResolvedInputs(
        previous=ArtifactSource("Step", 2, 1, (stored("report", "md", "# Old", "runs/v1/report.md"),)),
        completed={
            "goals": ArtifactSource("Goals", 0, 2, (stored("goals", "json", '{"a": 1}', "runs/v2/goals.json"),))
        },
        feedback=("Shorter, please.",),
        original_prompt="Make an app.",
        input={"ticket": "It ```breaks```."},
        findings="- report.md: too long",
    )
    given = {
        "instructions": {
            "system_prompt": "The house's words.",
            "task_prompt": "Do it.",
            "examples": [{"input": {"a": 1}, "output": {"b": 2}}],
        },
        "inputs": {
            "include_previous_version": True,
            "include_checkpoint_outputs": [{"checkpoint_id": "goals"}],
        },
    }
    work = bench.work("report.md", agent={"task_prompt": "Write it down."}, given=given, resolved=found)
    await bench.runner.run(work)
    (asked,) = bench.models.asked
    assert asked.system.startswith("The house's words.\n\nYou write.\n\n=== EXAMPLES ===\n\n")
    assert read_markdown(asked.system)[1] == ['{\n  "a": 1\n}', '{\n  "b": 2\n}']
    headings, contents = read_markdown(asked.prompt)
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
    assert "=== YOUR TASK ===\nDo it.\n\nWrite it down.\n\n" in asked.prompt
    for name, path in (("report.md", "runs/v1/report.md"), ("goals.json", "runs/v2/goals.json")):
        assert f"\nFile: {name}\nPath: {path}\n\n" in asked.prompt


@pytest.mark.parametrize(
    ("format", "text", "kept"),
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
async def test_a_fence_around_a_whole_file_is_no_part_of_it(tmp_path: Path, format: str, text: str, kept: str) -> None:
    assert await agents(tmp_path, text).texts(f"file.{format}") == {f"file.{format}": kept}


async def test_context_over_the_limit_fails_before_the_call_and_says_what_is_long(tmp_path: Path) -> None:
    bench = agents(tmp_path)
    found = ResolvedInputs(input={"text": "x" * 300_000})
    kind, told, is_final = faulted(await bench.runner.run(bench.work("report.md", resolved=found)))
    assert (kind, is_final, bench.models.asked) == ("context_too_long", True, [])
    assert "- INPUT: 300," in told


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
async def test_faults_of_models_are_told_apart(tmp_path: Path, kind: ModelErrorKind, is_final: bool) -> None:
    bench = agents(tmp_path, ModelError(kind, "In words."))
    assert faulted(await bench.run("report.md")) == (kind.value, "In words.", is_final)


async def test_empty_answers_are_asked_for_again_then_a_fault(tmp_path: Path) -> None:
    bench = agents(tmp_path, " ", "\n", "Now.")
    assert await bench.texts("a.txt") == {"a.txt": "Now."}
    bench = agents(tmp_path, *[" "] * 3)
    bench.kept = Kept()
    assert faulted(await bench.run("a.txt"))[0] == "bad_answer"


async def test_a_model_that_only_ever_uses_tools_comes_to_an_end(tmp_path: Path) -> None:
    bench = Agents(tmp_path, FakeModels(lambda _: Uses("list_files", {})))
    kind, told, _ = faulted(await bench.run("a.txt", agent={"tools": ["file_operations"]}))
    assert kind == "bad_answer"
    assert told == mentions("60")


async def test_the_model_and_its_settings_are_the_agents_then_the_checkpoints(tmp_path: Path) -> None:
    bench = agents(tmp_path, "x", "x")
    config = {"model": "fake:house", "model_settings": {"temperature": 0.1, "max_tokens": 10}}
    await bench.run("a.txt", config={**config, "agent": {"name": "A"}})
    bench.kept = Kept()
    own = {"name": "A", "model": "fake:own", "model_settings": {"max_tokens": 20}}
    await bench.run("a.txt", config={**config, "agent": own})
    assert bench.models.chosen == [
        ("fake:house", {"temperature": 0.1, "max_tokens": 10}),
        ("fake:own", {"temperature": 0.1, "max_tokens": 20}),
    ]
