"""Checkpoints that a person does: the form's answer becomes its artifacts."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePath
from typing import cast

from cairn.core.execution import Failure
from cairn.definitions.enums import FieldType, FormFormat
from cairn.definitions.execution_config import HumanOnlyConfig, InputField
from cairn.definitions.model import CheckpointDefinition
from cairn.documents import Value, encode_json
from cairn.ports import Errored, Outcome, ProducedFile, StoredFile, UploadedFile, WorkOrder
from cairn.runners.expected_artifacts import DeclaredArtifact, expected
from cairn.runners.limits import RunnerLimits
from cairn.runners.result_checks import ProducedFiles, check_result

Fields = Mapping[str, Value]
BINARY = "bin"  # format of a file whose name has no ending


class HumanRunner:
    """Turns an answer that was checked when it was given into what the checkpoint produces."""

    def __init__(self, limits: RunnerLimits | None = None) -> None:
        self._limits = limits or RunnerLimits()

    async def run(self, work: WorkOrder) -> Outcome:
        form = work.checkpoint.execution.human_only_config
        if form is None or not isinstance(work.answer, dict):
            return Errored(Failure("answer_missing", "Nobody has filled in the form of this checkpoint."))
        answer = cast("Fields", work.answer)
        handed_in = _handed_in(form, answer)
        lost = [field.label or field.name for field in handed_in if str(answer[field.name]) not in work.files]
        if lost:
            return Errored(
                Failure("upload_missing", f"The file that was handed in is not there any more: {', '.join(lost)}.")
            )
        wanted, fields = expected(work.checkpoint), fields_of(work.checkpoint, answer, work.files)
        files = [_stored(wanted.uploads[field.name], work.files[str(answer[field.name])]) for field in handed_in]
        saved = _saved(work, form, fields)
        output = None if wanted.json else fields
        made = ProducedFiles(
            (*saved, *files), output, written=frozenset(one.name for one in saved if one.format == "json")
        )
        return check_result(work, made, self._limits)


def fields_of(checkpoint: CheckpointDefinition, answer: Fields, files: Mapping[str, UploadedFile]) -> dict[str, Value]:
    """The answer as other checkpoints read it: a file stands there by its name, not by the id of its upload."""
    form = checkpoint.execution.human_only_config
    uploads = {field.name for field in _handed_in(form, answer)} if form is not None else set[str]()
    return {
        name: files[str(value)].filename if name in uploads and str(value) in files else value
        for name, value in answer.items()
    }


def _handed_in(form: HumanOnlyConfig, answer: Fields) -> list[InputField]:
    """The file fields that were filled in."""
    return [field for field in form.input_fields if field.type is FieldType.FILE and answer.get(field.name)]


def _stored(slot: DeclaredArtifact, upload: UploadedFile) -> StoredFile:
    ending = PurePath(upload.filename).suffix.removeprefix(".").lower()
    is_plain = ending.isascii() and ending.isalnum() and len(ending) <= 16
    return StoredFile(slot.name, ending if is_plain else BINARY, upload.checksum, upload.size, upload.read)


def _saved(work: WorkOrder, form: HumanOnlyConfig, fields: Fields) -> tuple[ProducedFile, ...]:
    if not form.save_as_artifact or not form.artifact_name:
        return ()
    match form.artifact_format:
        case FormFormat.JSON:
            data = encode_json(dict(fields), indent=True)
        case FormFormat.MD:
            data = document(work.checkpoint.checkpoint_name, form, fields).encode()
    return (ProducedFile(form.artifact_name, form.artifact_format.value, data),)


def document(title: str, form: HumanOnlyConfig, fields: Fields) -> str:
    """The answers as a document: each under its label."""
    parts = [f"# {_line(title)}"]
    for field in form.input_fields:
        parts += [f"## {_line(field.label or field.name)}", _told(field, fields.get(field.name))]
    return "\n\n".join(parts) + "\n"


def _told(field: InputField, value: Value) -> str:
    match value:
        case None | "":
            return "*Not answered.*"
        case bool():
            return "Yes" if value else "No"
        case str() if field.type is FieldType.FILE:
            return f"File: {_line(value)}"
        case str() if field.type is FieldType.MULTILINE_TEXT:
            return "\n".join(value.strip().splitlines())
        case str():
            return _line(value)
        case _:
            return encode_json(value).decode()


def _line(text: str) -> str:
    return " ".join(text.splitlines())
