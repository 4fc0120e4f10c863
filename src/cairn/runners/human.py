"""Run checkpoints that people complete. A submitted form becomes the artifacts."""

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
BINARY = "bin"  # format of a file without a usable extension


class HumanRunner:
    """Turns a submitted form into the checkpoint's result. The form was validated when it was submitted."""

    def __init__(self, limits: RunnerLimits | None = None) -> None:
        self._limits = limits or RunnerLimits()

    async def run(self, work: WorkOrder) -> Outcome:
        form = work.checkpoint.execution.human_only_config
        if form is None or not isinstance(work.answer, dict):
            return Errored(Failure("answer_missing", "The form of this checkpoint has not been submitted."))
        answer = cast("Fields", work.answer)
        uploads = _filled_file_fields(form, answer)
        missing = [field.label or field.name for field in uploads if str(answer[field.name]) not in work.files]
        if missing:
            return Errored(Failure("upload_missing", f"An uploaded file no longer exists: {', '.join(missing)}."))
        artifacts, fields = expected(work.checkpoint), fields_of(work.checkpoint, answer, work.files)
        files = [_stored(artifacts.uploads[field.name], work.files[str(answer[field.name])]) for field in uploads]
        saved = _form_artifact(work, form, fields)
        output = None if artifacts.json else fields
        encoded = frozenset(file.name for file in saved if file.format == "json")
        return check_result(work, ProducedFiles((*saved, *files), output, encoded=encoded), self._limits)


def fields_of(checkpoint: CheckpointDefinition, answer: Fields, files: Mapping[str, UploadedFile]) -> dict[str, Value]:
    """The fields that other checkpoints read, with filenames instead of upload ids."""
    form = checkpoint.execution.human_only_config
    uploads = {field.name for field in _filled_file_fields(form, answer)} if form is not None else set[str]()
    return {
        name: files[str(value)].filename if name in uploads and str(value) in files else value
        for name, value in answer.items()
    }


def _filled_file_fields(form: HumanOnlyConfig, answer: Fields) -> list[InputField]:
    return [field for field in form.input_fields if field.type is FieldType.FILE and answer.get(field.name)]


def _stored(artifact: DeclaredArtifact, upload: UploadedFile) -> StoredFile:
    extension = PurePath(upload.filename).suffix.removeprefix(".").lower()
    is_usable = extension.isascii() and extension.isalnum() and len(extension) <= 16
    return StoredFile(artifact.name, extension if is_usable else BINARY, upload.checksum, upload.size, upload.read)


def _form_artifact(work: WorkOrder, form: HumanOnlyConfig, fields: Fields) -> tuple[ProducedFile, ...]:
    if not form.save_as_artifact or not form.artifact_name:
        return ()
    match form.artifact_format:
        case FormFormat.JSON:
            data = encode_json(dict(fields), indent=True)
        case FormFormat.MD:
            data = document(work.checkpoint.checkpoint_name, form, fields).encode()
    return (ProducedFile(form.artifact_name, form.artifact_format.value, data),)


def document(title: str, form: HumanOnlyConfig, fields: Fields) -> str:
    """The form as a Markdown document."""
    parts = [f"# {_single_line(title)}"]
    for field in form.input_fields:
        parts += [f"## {_single_line(field.label or field.name)}", _field_text(field, fields.get(field.name))]
    return "\n\n".join(parts) + "\n"


def _field_text(field: InputField, value: Value) -> str:
    match value:
        case None | "":
            return "*Not answered.*"
        case bool():
            return "Yes" if value else "No"
        case str() if field.type is FieldType.FILE:
            return f"File: {_single_line(value)}"
        case str() if field.type is FieldType.MULTILINE_TEXT:
            return "\n".join(value.strip().splitlines())
        case str():
            return _single_line(value)
        case _:
            return encode_json(value).decode()


def _single_line(text: str) -> str:
    return " ".join(text.splitlines())
