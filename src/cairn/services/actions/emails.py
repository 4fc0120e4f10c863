"""Resolve emails: recipients, filled templates, and attachments with the checksums of their contents."""

from __future__ import annotations

import hashlib
import mimetypes
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cairn.core.destinations import parse_email
from cairn.documents import encode_json
from cairn.documents.pointers import child
from cairn.ports import ProducedFile, StoredFile
from cairn.services.actions import queries
from cairn.services.actions.templates import fill_texts, find, placeholders
from cairn.store import Connection, NewArtifact

RECIPIENTS = ("to", "cc", "bcc")
TEMPLATES = ("subject", "body")
MAX_SUBJECT = 998  # characters
MAX_ATTACHMENTS_BYTES = 25 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class StagedFile:
    """A file that is saved with the proposal, before it has a record."""

    name: str
    format: str
    checksum: str
    size: int
    record_id: str = ""

    @classmethod
    def of(cls, file: ProducedFile | StoredFile) -> StagedFile:
        if isinstance(file, StoredFile):
            return cls(file.name, file.format, file.checksum, file.size, file.record_id)
        return cls(file.name, file.format, hashlib.sha256(file.data).hexdigest(), file.size)


@dataclass(frozen=True, slots=True)
class ResolvedEmail:
    content: dict[str, Any]
    recipients: list[str]  # of all kinds, each once
    errors: list[tuple[str, str]]


def resolve_email(parameters: Mapping[str, Any], attachments: Sequence[dict[str, Any] | None]) -> ResolvedEmail:
    """`attachments` are those of the parameters, in order; None for one that doesn't exist."""
    errors: list[tuple[str, str]] = []
    content: dict[str, Any] = {}
    for kind in RECIPIENTS:
        if found := list(_addresses(parameters, kind, errors)):
            content[kind] = found
    values: dict[str, Any] = parameters.get("values", {})
    names = {**{name: value for name, value in parameters.items() if name != "values"}, **values}
    for template in TEMPLATES:
        content[template] = _filled(template, str(parameters.get(template, "")), names, errors)
    subject = content["subject"]
    if len(subject) > MAX_SUBJECT or any(unicodedata.category(c) in ("Cc", "Zl", "Zp") for c in subject):
        errors.append(("/subject", f"With its values, the subject is not one line of up to {MAX_SUBJECT} characters."))
    if attachments:
        content["attachments"] = [attachment for attachment in attachments if attachment is not None]
        errors += _attachment_errors(parameters["attachments"], attachments)
    recipients = {address.lower(): address for kind in RECIPIENTS for address in content.get(kind, [])}
    return ResolvedEmail(content, sorted(recipients.values()), errors)


def _addresses(parameters: Mapping[str, Any], kind: str, errors: list[tuple[str, str]]) -> Iterator[str]:
    given: str | list[str] = parameters.get(kind, [])
    for index, text in enumerate([given] if isinstance(given, str) else given):
        try:
            yield parse_email(text)
        except ValueError as error:
            errors.append((f"/{kind}" if isinstance(given, str) else child(f"/{kind}", index), str(error)))


def _filled(field: str, text: str, values: Mapping[str, Any], errors: list[tuple[str, str]]) -> str:
    texts: dict[str, str] = {}
    for name in placeholders(text):
        try:
            value: Any = find(values, name)
        except LookupError:
            errors.append((f"/{field}", f"{{{{ {name} }}}} has no value. Add it to `values`."))
            value = None
        if isinstance(value, dict | list):
            errors.append((f"/{field}", f"{{{{ {name} }}}} is neither text nor a number."))
        texts[name] = _text(value)
    return fill_texts(text, texts)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else "" if value is None else encode_json(value).decode()


def attachments(
    connection: Connection,
    run_id: str,
    parameters: Mapping[str, Any],
    staged: Iterable[NewArtifact | StagedFile],
    earlier: Mapping[str, Any],
) -> list[dict[str, Any] | None]:
    """The contents that the names mean now. Attachments of `earlier` content keep theirs."""
    files = list(staged)
    kept: dict[str, dict[str, Any]] = {item["requested"]: item for item in earlier.get("attachments", [])}
    names: list[str] = parameters.get("attachments", [])
    return [kept.get(name) or _attachment(connection, run_id, name, files) for name in names]


def _attachment(
    connection: Connection, run_id: str, name: str, staged: Sequence[NewArtifact | StagedFile]
) -> dict[str, Any] | None:
    for file in staged:
        if name in (file.name, f"{file.name}.{file.format}"):
            return _content(name, f"{file.name}.{file.format}", file.record_id, file.size, file.checksum)
    row = queries.named_artifact(connection, run_id, name)
    if row is None:
        return None
    file_name = f"{row.artifact_name}.{row.format}"
    return _content(name, file_name, row.artifact_record_id, row.size_bytes, row.checksum)


def _content(requested: str, name: str, record_id: str, size: int, checksum: str) -> dict[str, Any]:
    return {
        "requested": requested,
        "name": name,
        "content_type": mimetypes.guess_type(name)[0] or "application/octet-stream",
        "artifact_id": record_id,
        "size": size,
        "checksum": checksum,
    }


def _attachment_errors(names: Sequence[str], attachments: Sequence[dict[str, Any] | None]) -> Iterator[tuple[str, str]]:
    for index, (name, found) in enumerate(zip(names, attachments, strict=True)):
        if found is None:
            yield child("/attachments", index), f"This run has no artifact named {name!r} to attach."
    if sum(found["size"] for found in attachments if found is not None) > MAX_ATTACHMENTS_BYTES:
        yield "/attachments", f"The attachments are larger than {MAX_ATTACHMENTS_BYTES // 1024 // 1024} MB."


def without_records(content: Mapping[str, Any]) -> dict[str, Any]:
    """The content without the ids of artifact records, which change when the same file is saved again."""
    if "attachments" not in content:
        return dict(content)
    found: list[dict[str, Any]] = content["attachments"]
    return {**content, "attachments": [{name: item[name] for name in _SENT} for item in found]}


_SENT = ("name", "content_type", "size", "checksum")
