"""The answers of a form become its artifacts."""

from __future__ import annotations

import json
from typing import Any

from cairn.core.execution import Failure
from cairn.definitions import CheckpointDefinition
from cairn.documents import Value
from cairn.ports import Errored, InvalidResult, Produced, ProducedFile, StoredFile, UploadedFile
from cairn.runners import HumanRunner, artifact_id
from cairn.runners.human import fields_of
from cairn.runners.limits import RunnerLimits
from tests.mentions import listing, mentions
from tests.runners.work_orders import WorkOutput, checkpoint, unreadable, upload, work

FIELDS: list[Value] = [
    {"name": "goal", "label": "What is the goal?"},
    {"name": "weight", "type": "number", "required": False},
    {"name": "urgent", "type": "boolean", "label": "Is it urgent?"},
    {"name": "notes", "type": "multiline_text", "label": "Notes"},
    {"name": "plan", "type": "file", "label": "The plan", "required": False},
]
ANSWER: dict[str, Value] = {"goal": "größer 🚀", "weight": 2**70, "urgent": False, "notes": "one\r\ntwo\n\nthree\n"}


def form(*outputs: Value, fields: list[Value] = FIELDS, **more: Any) -> CheckpointDefinition:
    named: dict[str, Any] = {"checkpoint_name": "Business goals", "form": fields, **more}
    return checkpoint(**named, **({"outputs": list(outputs)} if outputs else {}))


async def test_a_form_saved_as_json_holds_the_fields() -> None:
    outcome = await HumanRunner().run(work(form("goals.json"), answer=ANSWER))
    assert isinstance(outcome, Produced)
    (saved,) = outcome.artifacts
    assert isinstance(saved, ProducedFile)
    assert (saved.name, saved.format, json.loads(saved.data)) == ("goals", "json", ANSWER)
    assert outcome.output is None


async def test_a_form_saved_as_markdown_is_a_readable_document() -> None:
    answer = {**ANSWER, "plan": "upload-1"}
    files = {"upload-1": upload("plan v2.pdf", b"%PDF")}
    outcome = await HumanRunner().run(work(form("goals.md"), answer=answer, files=files))
    text = """\
# Business goals

## What is the goal?

größer 🚀

## weight

1180591620717411303424

## Is it urgent?

No

## Notes

one
two

three

## The plan

File: plan v2.pdf
"""
    assert isinstance(outcome, Produced)
    document, plan = outcome.artifacts
    assert document == ProducedFile("goals", "md", text.encode())
    assert (plan.name, plan.format, plan.size) == ("plan", "pdf", 4)
    assert outcome.output == {**ANSWER, "plan": "plan v2.pdf"}


async def test_unanswered_fields_are_shown_in_the_document() -> None:
    fields: list[Value] = [{"name": "a", "required": False}, {"name": "b\nc", "type": "boolean"}]
    outcome = await HumanRunner().run(work(form("d.md", fields=fields), answer={"b\nc": True}))
    assert isinstance(outcome, Produced)
    (document,) = outcome.artifacts
    assert isinstance(document, ProducedFile)
    lines = document.data.decode().splitlines()
    assert lines == ["# Business goals", "", "## a", "", mentions("*"), "", "## b c", "", "Yes"]
    assert (document.name, document.format, outcome.output) == ("d", "md", {"b\nc": True})


async def test_a_saved_form_is_expected_even_without_a_declared_output() -> None:
    config: Value = {"instructions": "Go.", "save_as_artifact": True, "artifact_name": "a"}
    execution: Value = {"mode": "human_only", "human_only_config": config}
    definition = CheckpointDefinition.parse({"key": "k", "checkpoint_name": "K", "execution": execution})
    assert await HumanRunner().run(work(definition, answer={})) == Produced((ProducedFile("a", "json", b"{}"),))


async def test_a_form_without_artifact_is_stored_as_metadata() -> None:
    assert await HumanRunner().run(work(form(), answer=ANSWER)) == Produced((), ANSWER)


async def test_a_form_without_fields_can_be_submitted() -> None:
    assert await HumanRunner().run(work(form(fields=[]), answer={})) == Produced((), {})


async def test_an_uploaded_file_becomes_an_artifact_without_being_read_again() -> None:
    plan = UploadedFile("Plan.Final.PDF", "sum", 4, unreadable)
    order = work(form(), answer={**ANSWER, "plan": "upload-1"}, files={"upload-1": plan})
    artifact = StoredFile("plan", "pdf", "sum", 4, unreadable)
    assert await HumanRunner().run(order) == Produced((artifact,), {**ANSWER, "plan": "Plan.Final.PDF"})


async def test_file_and_field_names_cannot_be_paths() -> None:
    fields: list[Value] = [
        {"name": "../up", "type": "file"},
        {"name": "goals", "type": "file"},
        {"name": "README", "type": "file"},
        {"name": "script", "type": "file"},
    ]
    definition = form("goals.json", fields=fields)
    answer: Value = {"../up": "1", "goals": "2", "README": "3", "script": "4"}
    files = {
        "1": upload("../../etc/passwd.txt", b"1"),
        "2": upload("goals.csv", b"2"),
        "3": upload("README", b"3"),
        "4": upload("a.x/y; rm", b"4"),
    }
    outcome = await HumanRunner().run(work(definition, answer=answer, files=files))
    assert isinstance(outcome, Produced)
    assert [(artifact.name, artifact.format) for artifact in outcome.artifacts] == [
        ("goals", "json"),
        (".._up", "txt"),
        ("goals_file", "csv"),
        ("README", "bin"),
        ("script", "bin"),
    ]
    assert len({artifact_id(definition, artifact.name) for artifact in outcome.artifacts}) == 5


async def test_a_file_over_the_limit_is_rejected() -> None:
    files, output = {"1": upload("a.bin", b"12345")}, WorkOutput()
    runner = HumanRunner(RunnerLimits(max_file_bytes=4, max_payload_bytes=120))
    outcome = await runner.run(work(form(), answer={**ANSWER, "plan": "1"}, files=files, output=output))
    assert isinstance(outcome, InvalidResult)
    assert outcome.error.message == listing(mentions("- plan.bin: ", "5 bytes", "4 bytes"))


async def test_large_form_answers_give_a_warning() -> None:
    files, output = {"1": upload("a.bin", b"12345")}, WorkOutput()
    runner = HumanRunner(RunnerLimits(max_payload_bytes=130))
    await runner.run(work(form(), answer={**ANSWER, "plan": "1"}, files=files, output=output))
    assert [level for level, _, _ in output.lines] == ["warning"]


async def test_a_missing_upload_fails_the_execution_and_names_the_field() -> None:
    outcome = await HumanRunner().run(work(form(), answer={**ANSWER, "plan": "gone"}))
    assert outcome == Errored(Failure("upload_missing", mentions("The plan")))


async def test_without_an_answer_the_execution_fails() -> None:
    assert await HumanRunner().run(work(form())) == Errored(Failure("answer_missing", mentions()))


def test_other_checkpoints_read_the_file_name_not_the_upload_id() -> None:
    files = {"1": upload("plan.pdf", b"%PDF")}
    answer: dict[str, Value] = {"goal": "1", "plan": "1"}
    assert fields_of(form(), answer, files) == {"goal": "1", "plan": "plan.pdf"}
    assert fields_of(form(), answer, {}) == answer
    assert fields_of(checkpoint(function="f"), answer, files) == answer
