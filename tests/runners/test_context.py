"""The context of a checkpoint."""

from __future__ import annotations

import pytest

from cairn.definitions import CheckpointDefinition
from cairn.definitions.execution_config import Agent
from cairn.documents import Value, encode_json
from cairn.ports import ReworkBrief
from cairn.runners import (
    ArtifactSource,
    ContextTooLong,
    MissingReference,
    ResolvedInputs,
    assemble,
    check_length,
    referenced,
)
from cairn.runners.limits import RunnerLimits
from cairn.runners.prompt_layouts import BlockKind
from tests.mentions import listing, mentions
from tests.runners.read_artifacts import FOUND, ODD_STEP, REQUIREMENTS, step
from tests.runners.work_orders import checkpoint, stored

# ---- references -------------------------------------------------------------------------------------------------


def reading(*artifacts: str) -> CheckpointDefinition:
    reference: dict[str, Value] = {"checkpoint_id": "requirements"}
    if artifacts:
        reference["artifact_ids"] = list(artifacts)
    return checkpoint(prompt="Go.", inputs={"include_checkpoint_outputs": [reference]})


def test_a_reference_to_an_incomplete_checkpoint_fails() -> None:
    with pytest.raises(MissingReference) as error:
        assemble(reading(), ResolvedInputs())
    assert error.value.failure.type == "missing_reference"
    assert error.value.failure.message == mentions("step", "requirements", "include_checkpoint_outputs")


def test_artifacts_are_picked_by_name_or_id() -> None:
    other = stored("other", "md", "x", artifact_id="00000000-0000-4000-8000-000000000001")
    completed = {"requirements": ArtifactSource("Requirements", 0, 2, (REQUIREMENTS, other))}
    assert referenced(reading(), completed)["requirements"].artifacts == (REQUIREMENTS, other)
    assert referenced(reading("other"), completed)["requirements"].artifacts == (other,)
    assert referenced(reading(REQUIREMENTS.artifact_id), completed)["requirements"].artifacts == (REQUIREMENTS,)
    with pytest.raises(MissingReference) as error:
        referenced(reading("other", "none"), completed)
    assert str(error.value) == mentions("step", "none", "requirements, other")


def test_a_test_run_has_no_version() -> None:
    found = ResolvedInputs(completed={"requirements": ArtifactSource("Requirements", 0, None)})
    assert assemble(reading(), found).task.startswith("=== REFERENCED OUTPUT: Checkpoint 1 from ")


# ---- passes, revisions, prompts -----------------------------------------------------------------------------------


def test_the_previous_pass_is_placed_like_the_previous_version() -> None:
    earlier = ArtifactSource("Analysis", 2, 2, (stored("a", "txt", "old"),), pass_number=1)
    task = assemble(checkpoint(prompt="Go."), ResolvedInputs(previous_pass=earlier)).task
    assert task.startswith("=== PREVIOUS PASS: Checkpoint 3 from v2, pass 1 ===\nFile: a.txt\n\n")
    assert task.endswith("\n```text\nold\n```\n\n=== YOUR TASK ===\nGo.")


REWORK = ReworkBrief(
    "Add the tests.", "Coverage is <low>.", "test", "execution", (stored("plan", "json", '{"a": 1}', "temp/plan.json"),)
)


@pytest.mark.parametrize(
    ("format", "text"),
    [
        (
            "markdown",
            (
                "=== REWORK: requested by test ===\nReason:\n```text\nCoverage is <low>.\n```\n\n"
                "Prompt:\n```text\nAdd the tests.\n```\n\n"
                'File: plan.json\nPath: temp/plan.json\n\nContent:\n```json\n{"a": 1}\n```'
            ),
        ),
        (
            "xml",
            (
                '<rework requested_by="test">\n<reason>Coverage is &lt;low&gt;.</reason>\n'
                "<prompt>Add the tests.</prompt>\n"
                '<file name="plan.json" path="temp/plan.json">\n<content>{"a": 1}</content>\n</file>\n</rework>'
            ),
        ),
        (
            "json",
            encode_json(
                {
                    "context": [
                        {
                            "kind": "rework",
                            "requested_by": "test",
                            "reason": "Coverage is <low>.",
                            "prompt": "Add the tests.",
                            "files": [{"file": "plan.json", "path": "temp/plan.json", "content": {"a": 1}}],
                        }
                    ]
                },
                indent=True,
            ).decode(),
        ),
    ],
)
def test_the_reason_of_a_rework_follows_the_task(format: str, text: str) -> None:
    instructions: Value = {"injection_format": {"content_format": format}}
    assembled = assemble(checkpoint(prompt="Go.", instructions=instructions), ResolvedInputs(rework=REWORK))
    assert assembled.text.endswith(text)
    assert [(block.kind, block.heading, block.artifact_name) for block in assembled.blocks] == [
        (BlockKind.REWORK, mentions("REWORK: ", "test", "reason"), None),
        (BlockKind.REWORK, mentions("REWORK: ", "test", "prompt"), None),
        (BlockKind.REWORK, mentions("REWORK: ", "test"), "plan"),
    ]


def test_without_a_reason_only_the_results_of_the_requester_are_shown() -> None:
    assembled = assemble(checkpoint(prompt="Go."), ResolvedInputs(rework=ReworkBrief("", "", "ann")))
    assert assembled.text.splitlines()[-2] == mentions("=== REWORK: ", "ann")


def test_revision_feedback_comes_last() -> None:
    found = ResolvedInputs(feedback=("Say more.", "Use ``` less.\n"))
    assert assemble(checkpoint(prompt="Go."), found).task == (
        "=== YOUR TASK ===\nGo.\n\n=== REVISION FEEDBACK ===\n```text\nSay more.\n```\n\n````text\nUse ``` less.\n````"
    )
    for layout, assembled in (
        ("xml", "<revision_feedback>\n<feedback>Say more.</feedback>\n<feedback>Use ``` less.\n</feedback>\n"),
        (
            "json",
            '"kind": "revision_feedback",\n      "feedback": [\n        "Say more.",\n        "Use ``` less.\\n"\n',
        ),
    ):
        instructions: Value = {"injection_format": {"content_format": layout}}
        assert assembled in assemble(checkpoint(prompt="Go.", instructions=instructions), found).task


def test_prompts_of_the_checkpoint_precede_those_of_the_agent() -> None:
    agent = Agent(name="B", system_prompt="You are B.", task_prompt="Do your part.")
    assembled = assemble(step(), ResolvedInputs(completed=FOUND.completed), agent=agent)
    assert assembled.system == "You are careful.\n\nYou are B."
    assert assembled.task.endswith("=== YOUR TASK ===\nWrite the design.\n\nDo your part.")


def test_the_prompt_of_a_form_is_its_instructions() -> None:
    definition = checkpoint(form=["a"], prompt="Fill this in.", inputs={"include_previous_version": True})
    assembled = assemble(definition, ResolvedInputs(previous=ArtifactSource("A", 0, 1, (stored("a", "json", "{}"),))))
    assert assembled.task.endswith("=== YOUR TASK ===\nFill this in.")


# ---- the limit -----------------------------------------------------------------------------------------------------


def test_over_the_limit_each_block_is_reported_with_its_size() -> None:
    assembled = assemble(step(), FOUND)
    check_length(assembled, assembled.characters)
    with pytest.raises(ContextTooLong) as error:
        check_length(assembled, assembled.characters - 1)
    total, rest = assembled.characters, assembled.characters - 43 - 49
    assert error.value.failure.type == "context_too_long"
    message = error.value.failure.message
    assert message.splitlines()[0] == mentions(total, total - 1, "use_summarization", "max_context_length")
    assert message == listing(
        "- PREVIOUS VERSION: Checkpoint 3 from v1, analysis_def78900_v1.md: 43",
        "- REFERENCED OUTPUT: Checkpoint 1 from v2, goals_abc12300_v2.json: 49",
        mentions(f": {rest}"),
    )


def test_the_limit_for_huge_files_is_a_setting() -> None:
    found = ResolvedInputs(previous=ArtifactSource("A", 0, 1, (stored("a", "txt", "12345"),)))
    assembled = assemble(checkpoint(**ODD_STEP), found, limits=RunnerLimits(max_payload_bytes=4))
    assert [(block.content, block.omitted) for block in assembled.blocks] == [(None, mentions())]
