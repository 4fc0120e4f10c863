"""The exact layouts of the context."""

from __future__ import annotations

import re

import pytest

from cairn.definitions import CheckpointDefinition
from cairn.documents import Value
from cairn.ports import StoredFile
from cairn.runners import (
    ArtifactSource,
    BlockKind,
    PromptBlock,
    ResolvedInputs,
    assemble,
)
from tests.mentions import mentions
from tests.runners.read_artifacts import FOUND, ODD_STEP, step
from tests.runners.work_orders import checkpoint, stored, unreadable

MARKDOWN = """\
=== PREVIOUS VERSION: Checkpoint 3 from v1 ===
File: analysis_def78900_v1.md
Path: runs/v1/checkpoint_2_analysis/outputs/analysis_def78900_v1.md

Content:
```markdown
# Business Analysis
Key findings from v1...
```

=== REFERENCED OUTPUT: Checkpoint 1 from v2 ===
File: goals_abc12300_v2.json
Path: runs/v2/checkpoint_0_goals/outputs/goals_abc12300_v2.json

Content:
```json
{
  "requirements": ["Feature A", "Feature B"]
}
```

=== YOUR TASK ===
Write the design.

Be brief."""

XML = """\
<previous_version checkpoint="3" checkpoint_name="Business analysis" from="v1">
<file name="analysis_def78900_v1.md" path="runs/v1/checkpoint_2_analysis/outputs/analysis_def78900_v1.md">
<content># Business Analysis
Key findings from v1...</content>
</file>
</previous_version>

<checkpoint_output checkpoint="1" checkpoint_name="Requirements" from="v2">
<file name="goals_abc12300_v2.json" path="runs/v2/checkpoint_0_goals/outputs/goals_abc12300_v2.json">
<content>{
  "requirements": ["Feature A", "Feature B"]
}
</content>
</file>
</checkpoint_output>

<your_task>
Write the design.

Be brief.
</your_task>"""

JSON = """\
{
  "context": [
    {
      "kind": "previous_version",
      "checkpoint": 3,
      "checkpoint_name": "Business analysis",
      "from": "v1",
      "files": [
        {
          "file": "analysis_def78900_v1.md",
          "path": "runs/v1/checkpoint_2_analysis/outputs/analysis_def78900_v1.md",
          "content": "# Business Analysis\\nKey findings from v1..."
        }
      ]
    },
    {
      "kind": "checkpoint_output",
      "checkpoint": 1,
      "checkpoint_name": "Requirements",
      "from": "v2",
      "files": [
        {
          "file": "goals_abc12300_v2.json",
          "path": "runs/v2/checkpoint_0_goals/outputs/goals_abc12300_v2.json",
          "content": {
            "requirements": [
              "Feature A",
              "Feature B"
            ]
          }
        }
      ]
    }
  ]
}

=== YOUR TASK ===
Write the design.

Be brief."""


# ---- the layouts ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("format", "task"), [("markdown", MARKDOWN), ("xml", XML), ("json", JSON)])
def test_each_format_matches_its_expected_text(format: str, task: str) -> None:
    assembled = assemble(step(format), FOUND)
    assert assembled.system == "You are careful."
    assert assembled.task == task
    assert assembled.text == f"You are careful.\n\n{task}"
    assert assembled.characters == len(assembled.text)


def test_each_block_is_listed() -> None:
    assert assemble(step(), FOUND).blocks == (
        PromptBlock(
            kind=BlockKind.PREVIOUS_VERSION,
            heading="PREVIOUS VERSION: Checkpoint 3 from v1",
            checkpoint_name="Business analysis",
            run_version=1,
            artifact_name="analysis",
            file_name="analysis_def78900_v1.md",
            file_path="runs/v1/checkpoint_2_analysis/outputs/analysis_def78900_v1.md",
            format="md",
            content="# Business Analysis\nKey findings from v1...",
            size_bytes=43,
        ),
        PromptBlock(
            kind=BlockKind.CHECKPOINT_OUTPUT,
            heading="REFERENCED OUTPUT: Checkpoint 1 from v2",
            checkpoint_name="Requirements",
            run_version=2,
            artifact_name="requirements",
            file_name="goals_abc12300_v2.json",
            file_path="runs/v2/checkpoint_0_goals/outputs/goals_abc12300_v2.json",
            format="json",
            content='{\n  "requirements": ["Feature A", "Feature B"]\n}\n',
            size_bytes=49,
        ),
    )


def test_without_references_there_are_only_the_prompts() -> None:
    assembled = assemble(checkpoint(prompt="Write it."), ResolvedInputs())
    assert (assembled.system, assembled.task, assembled.text) == ("", "Write it.", "Write it.")
    assert assembled.blocks == ()


def test_without_an_earlier_run_there_is_no_block() -> None:
    found = ResolvedInputs(completed=FOUND.completed)
    assert "PREVIOUS VERSION" not in assemble(step(), found).text


def test_the_previous_version_is_included_only_on_request() -> None:
    definition = checkpoint(prompt="Write it.")
    assert assemble(definition, FOUND).text == "Write it."


# ---- placement ---------------------------------------------------------------------------------------------


PREVIOUS, _, _ = MARKDOWN.partition("\n\n=== REF")
REFERENCED = MARKDOWN.removeprefix(f"{PREVIOUS}\n\n").partition("\n\n=== YOUR")[0]


def placed(previous: str, references: str) -> CheckpointDefinition:
    points: Value = {"previous_version_context": previous, "checkpoint_references": references}
    return step(injection_points=points)


def test_references_before_the_system_prompt() -> None:
    assembled = assemble(placed("before_system_prompt", "before_task_prompt"), FOUND)
    assert assembled.system == f"{PREVIOUS}\n\n=== YOUR INSTRUCTIONS ===\nYou are careful."
    assert assembled.task == f"{REFERENCED}\n\n=== YOUR TASK ===\nWrite the design.\n\nBe brief."


def test_references_after_the_task_prompt() -> None:
    assembled = assemble(placed("after_task_prompt", "after_task_prompt"), FOUND)
    assert assembled.system == "You are careful."
    assert assembled.task == f"=== YOUR TASK ===\nWrite the design.\n\nBe brief.\n\n{PREVIOUS}\n\n{REFERENCED}"


def test_references_before_and_after_the_task() -> None:
    assembled = assemble(placed("after_task_prompt", "before_task_prompt"), FOUND)
    assert assembled.task == f"{REFERENCED}\n\n=== YOUR TASK ===\nWrite the design.\n\nBe brief.\n\n{PREVIOUS}"


def test_references_before_the_system_prompt_in_xml() -> None:
    points: Value = {"previous_version_context": "before_system_prompt"}
    definition = step("xml", injection_points=points)
    found = ResolvedInputs(previous=ArtifactSource("A & B", 2, 1), completed=FOUND.completed)
    assert assemble(definition, found).system == (
        '<previous_version checkpoint="3" checkpoint_name="A &amp; B" from="v1">\n</previous_version>\n\n'
        "<your_instructions>\nYou are careful.\n</your_instructions>"
    )


# ---- files in prompts -----------------------------------------------------------------------------------------


def shown(format: str, *, paths: bool, contents: bool) -> str:
    layout: Value = {"content_format": format, "include_file_paths": paths, "include_file_contents": contents}
    return assemble(
        step(injection_format=layout), ResolvedInputs(previous=FOUND.previous, completed=FOUND.completed)
    ).task


def test_paths_and_contents_can_be_left_out() -> None:
    assert shown("markdown", paths=False, contents=True) == "\n".join(
        line for line in MARKDOWN.splitlines() if not line.startswith("Path:")
    )
    assert shown("markdown", paths=False, contents=False) == (
        "=== PREVIOUS VERSION: Checkpoint 3 from v1 ===\nFile: analysis_def78900_v1.md\n\n"
        "=== REFERENCED OUTPUT: Checkpoint 1 from v2 ===\nFile: goals_abc12300_v2.json\n\n"
        "=== YOUR TASK ===\nWrite the design.\n\nBe brief."
    )
    assert '<file name="goals_abc12300_v2.json"/>' in shown("xml", paths=False, contents=False)
    assert '"file": "goals_abc12300_v2.json"\n' in shown("json", paths=False, contents=False)


def test_omitted_contents_are_not_read() -> None:
    large = StoredFile("large", "md", "sum", 10**9, unreadable, "runs/v1/large.md")
    found = ResolvedInputs(previous=ArtifactSource("A", 0, 1, (large,)), completed=FOUND.completed)
    assemble(step(injection_format={"include_file_contents": False}), found)


BINARY = stored("picture", "png", b"\x89PNG\xff", "runs/v1/picture.png")
NUL = stored("nul", "txt", b"a\0b", "runs/v1/nul.txt")
LARGE = StoredFile("large", "csv", "sum", 11 * 1024 * 1024, unreadable, "runs/v1/large.csv")
ODD = ResolvedInputs(previous=ArtifactSource("A", 0, 1, (BINARY, NUL, LARGE)))


def odd(format: str) -> str:
    instructions: Value = {"injection_format": {"content_format": format}}
    return assemble(checkpoint(**ODD_STEP, instructions=instructions), ODD).task


def test_binary_and_huge_files_are_named_with_their_size() -> None:
    assert re.fullmatch(
        "=== PREVIOUS VERSION: Checkpoint 1 from v1 ===\n"
        "File: picture.png\nPath: runs/v1/picture.png\nSize: 5 bytes, .*\n\n"
        "File: nul.txt\nPath: runs/v1/nul.txt\nSize: 3 bytes, .*\n\n"
        "File: large.csv\nPath: runs/v1/large.csv\nSize: 11,534,336 bytes, .*\n\n"
        "=== YOUR TASK ===\nGo.",
        odd("markdown"),
    )
    assert '<file name="nul.txt" path="runs/v1/nul.txt" size_bytes="3" not_shown="' in odd("xml")
    assert '"size_bytes": 11534336,\n          "not_shown": "' in odd("json")


def test_a_checkpoint_without_files_is_marked() -> None:
    found = ResolvedInputs(completed={"requirements": ArtifactSource("Requirements", 0, 2)})
    lines = assemble(step(), found).task.splitlines()
    assert (lines[0], lines[1], lines[2]) == ("=== REFERENCED OUTPUT: Checkpoint 1 from v2 ===", mentions(), "")


def test_a_file_without_path_is_named_by_its_artifact() -> None:
    found = ResolvedInputs(previous=ArtifactSource("A", 0, 1, (stored("notes", "txt", "x"),)))
    definition = checkpoint(**ODD_STEP)
    expected = "=== PREVIOUS VERSION: Checkpoint 1 from v1 ===\nFile: notes.txt\n\nContent:\n```text\nx\n```\n\n"
    assert assemble(definition, found).task == f"{expected}=== YOUR TASK ===\nGo."


def test_in_the_json_layout_other_formats_are_strings() -> None:
    found = ResolvedInputs(
        previous=ArtifactSource("A", 0, 1, (stored("a", "json", "{"), stored("b", "json", f"[{2**70}]")))
    )
    instructions: Value = {"injection_format": {"content_format": "json"}}
    task = assemble(checkpoint(**ODD_STEP, instructions=instructions), found).task
    assert '"file": "a.json",\n          "content": "{"\n' in task
    assert f'"file": "b.json",\n          "content": [\n            {2**70}\n          ]\n' in task
