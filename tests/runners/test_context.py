"""What a checkpoint reads, and what it is told (X9, D10 to D12, D32; seed 0 §6)."""

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
from tests.runners.readings import FOUND, ODD_STEP, REQUIREMENTS, step
from tests.runners.works import checkpoint, stored

# ---- references -------------------------------------------------------------------------------------------------


def reading(*artifacts: str) -> CheckpointDefinition:
    wanted: dict[str, Value] = {"checkpoint_id": "requirements"}
    if artifacts:
        wanted["artifact_ids"] = list(artifacts)
    return checkpoint(prompt="Go.", inputs={"include_checkpoint_outputs": [wanted]})


def test_x9_a_reference_to_what_is_not_completed_fails_clearly() -> None:
    with pytest.raises(MissingReference) as told:
        assemble(reading(), ResolvedInputs())
    assert told.value.fault.type == "missing_reference"
    assert told.value.fault.message == (
        "step reads the outputs of requirements, which this run has not completed. Complete requirements first, or take"
        " it out of include_checkpoint_outputs."
    )


def test_x9_artifacts_are_picked_by_name_or_id() -> None:
    other = stored("other", "md", "x", artifact_id="00000000-0000-4000-8000-000000000001")
    completed = {"requirements": ArtifactSource("Requirements", 0, 2, (REQUIREMENTS, other))}
    assert referenced(reading(), completed)["requirements"].artifacts == (REQUIREMENTS, other)
    assert referenced(reading("other"), completed)["requirements"].artifacts == (other,)
    assert referenced(reading(REQUIREMENTS.artifact_id), completed)["requirements"].artifacts == (REQUIREMENTS,)
    with pytest.raises(MissingReference) as told:
        referenced(reading("other", "none"), completed)
    assert (
        str(told.value) == "step reads none of requirements, which has not produced it; there is requirements, other."
    )


def test_d20_a_test_run_has_no_version() -> None:
    found = ResolvedInputs(completed={"requirements": ArtifactSource("Requirements", 0, None)})
    assert assemble(reading(), found).task.startswith("=== REFERENCED OUTPUT: Checkpoint 1 from this test run ===")


# ---- passes, revisions, prompts -----------------------------------------------------------------------------------


def test_d32_the_earlier_pass_is_put_in_where_the_previous_version_goes() -> None:
    earlier = ArtifactSource("Analysis", 2, 2, (stored("a", "txt", "old"),), pass_number=1)
    assert assemble(checkpoint(prompt="Go."), ResolvedInputs(previous_pass=earlier)).task == (
        "=== PREVIOUS PASS: Checkpoint 3 from v2, pass 1 ===\nFile: a.txt\n\nContent:\n```text\nold\n```\n\n"
        "=== YOUR TASK ===\nGo."
    )


REWORK = ReworkBrief(
    "Add the tests.", "Coverage is <low>.", "test", "execution", (stored("plan", "json", '{"a": 1}', "temp/plan.json"),)
)


@pytest.mark.parametrize(
    ("format", "text"),
    [
        (
            "markdown",
            (
                "=== REWORK: sent back by test ===\nReason:\n```text\nCoverage is <low>.\n```\n\n"
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
def test_r2_why_the_work_was_sent_back_stands_after_the_task(format: str, text: str) -> None:
    instructions: Value = {"injection_format": {"content_format": format}}
    told = assemble(checkpoint(prompt="Go.", instructions=instructions), ResolvedInputs(rework=REWORK))
    assert told.text.endswith(text)
    assert [(block.kind, block.heading, block.artifact_name) for block in told.blocks] == [
        (BlockKind.REWORK, "REWORK: sent back by test, reason", None),
        (BlockKind.REWORK, "REWORK: sent back by test, prompt", None),
        (BlockKind.REWORK, "REWORK: sent back by test", "plan"),
    ]


def test_r2_without_words_only_what_the_asker_has_made_is_shown() -> None:
    told = assemble(checkpoint(prompt="Go."), ResolvedInputs(rework=ReworkBrief("", "", "ann")))
    assert told.text.endswith("=== REWORK: sent back by ann ===\nNo files.")


def test_x3_feedback_of_revisions_is_read_last() -> None:
    found = ResolvedInputs(feedback=("Say more.", "Use ``` less.\n"))
    assert assemble(checkpoint(prompt="Go."), found).task == (
        "=== YOUR TASK ===\nGo.\n\n=== REVISION FEEDBACK ===\n```text\nSay more.\n```\n\n````text\nUse ``` less.\n````"
    )
    for layout, told in (
        ("xml", "<revision_feedback>\n<feedback>Say more.</feedback>\n<feedback>Use ``` less.\n</feedback>\n"),
        (
            "json",
            '"kind": "revision_feedback",\n      "feedback": [\n        "Say more.",\n        "Use ``` less.\\n"\n',
        ),
    ):
        instructions: Value = {"injection_format": {"content_format": layout}}
        assert told in assemble(checkpoint(prompt="Go.", instructions=instructions), found).task


def test_d12_prompts_are_the_checkpoints_then_the_agents() -> None:
    agent = Agent(name="B", system_prompt="You are B.", task_prompt="Do your part.")
    assembled = assemble(step(), ResolvedInputs(completed=FOUND.completed), agent=agent)
    assert assembled.system == "You are careful.\n\nYou are B."
    assert assembled.task.endswith("=== YOUR TASK ===\nWrite the design.\n\nDo your part.")


def test_x9_a_person_is_told_what_the_form_says() -> None:
    definition = checkpoint(form=["a"], prompt="Fill this in.", inputs={"include_previous_version": True})
    assembled = assemble(definition, ResolvedInputs(previous=ArtifactSource("A", 0, 1, (stored("a", "json", "{}"),))))
    assert assembled.task.endswith("=== YOUR TASK ===\nFill this in.")


# ---- the limit -----------------------------------------------------------------------------------------------------


def test_d11_over_the_limit_every_block_is_named_with_its_size() -> None:
    assembled = assemble(step(), FOUND)
    check_length(assembled, assembled.characters)
    with pytest.raises(ContextTooLong) as told:
        check_length(assembled, assembled.characters - 1)
    total, rest = assembled.characters, assembled.characters - 43 - 49
    assert told.value.fault.type == "context_too_long"
    assert told.value.fault.message == (
        f"The context has {total} characters; at most {total - 1} are allowed. Include fewer artifacts, allow"
        " summaries with use_summarization, or raise max_context_length. In characters:\n"
        "- PREVIOUS VERSION: Checkpoint 3 from v1, analysis_def78900_v1.md: 43\n"
        "- REFERENCED OUTPUT: Checkpoint 1 from v2, goals_abc12300_v2.json: 49\n"
        f"- prompts and headings: {rest}"
    )


def test_x9_what_counts_as_huge_is_a_setting() -> None:
    found = ResolvedInputs(previous=ArtifactSource("A", 0, 1, (stored("a", "txt", "12345"),)))
    assembled = assemble(checkpoint(**ODD_STEP), found, limits=RunnerLimits(max_payload_bytes=4))
    assert [(block.content, block.omitted) for block in assembled.blocks] == [(None, "it is too large")]
