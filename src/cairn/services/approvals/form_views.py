"""What a person fills in."""

from __future__ import annotations

from typing import Any, Literal

from cairn.services.view import Document, Id, View


class FormField(View):
    field_id: Id
    name: str
    type: Literal["text", "number", "boolean", "file", "multiline_text"]
    label: str
    required: bool
    default: Any = None
    validation: str | Document | None = None


class Form(View):
    instructions: str
    fields: list[FormField]
    values: Document | None  # the last answers, to be revised
    feedback: str | None  # why they have to be revised
