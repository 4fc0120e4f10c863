"""Expand the short forms of a checkpoint."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

from cairn.core.states import ExecutionMode
from cairn.definitions.authoring.source_map import SourcePointers
from cairn.definitions.findings import Finding
from cairn.definitions.frozen_model import Document
from cairn.definitions.json_schema.messages import one_of, preview
from cairn.documents import Value
from cairn.documents.pointers import child, join

# The path in the full form, its value, and the path of the value inside the short form.
Assignment: TypeAlias = tuple[tuple[str, ...], Value, tuple[str | int, ...]]

MODE = ("execution", "mode")
AGENTS = ("execution", "agent_config")
AGENT = (*AGENTS, "agent")
TASK = ("instructions", "task_prompt")
SCRIPT = ("execution", "script_config", "script_path")
FUNCTION = ("execution", "function_config", "function")
FORM = ("execution", "human_only_config")
ARTIFACTS = ("output", "artifacts")
APPROVALS = ("start", "complete", "both")
FORM_INSTRUCTIONS = "Please fill in this form."


def expand_short_forms(
    short: Document, origins: SourcePointers, target: str, source: str
) -> tuple[Document, list[Finding]]:
    """Expand all short forms. Invalid values stay unchanged, and the shape check reports them."""
    draft = _Draft({key: value for key, value in short.items() if key not in _FORMS}, origins, target, source)
    is_form = "form" in short or draft.get(MODE) == ExecutionMode.HUMAN_ONLY.value
    for key, forms in _FORMS.items():
        if key in short:
            for path, value, inner in forms(short[key], is_form):
                draft.set(path, value, key, inner)
    if "prompt" in short and draft.get(MODE) is None:
        draft.set(MODE, ExecutionMode.AGENTIC.value, "prompt")
    if "prompt" in short and draft.get(MODE) == ExecutionMode.AGENTIC.value and draft.get(AGENTS) is None:
        draft.set(AGENTS, {}, "prompt")
    if "approve" in short and short["approve"] not in APPROVALS:
        message = f"expected {one_of(map(preview, APPROVALS))}, but got {preview(short['approve'])}"
        draft.findings.append(Finding(child(source, "approve"), message))
    if "form" in short and draft.get((*FORM, "instructions")) is None:
        description = short.get("checkpoint_description")
        has_description = isinstance(description, str) and description.strip()
        draft.set((*FORM, "instructions"), description if has_description else FORM_INSTRUCTIONS, "form")
    return draft.document, draft.findings


def _agent(value: Value, _: bool) -> Iterator[Assignment]:
    yield MODE, ExecutionMode.AGENTIC.value, ()
    yield AGENT, {"library_agent": value} if isinstance(value, str) else value, ()


def _prompt(value: Value, is_form: bool) -> Iterator[Assignment]:
    yield (*FORM, "instructions") if is_form else TASK, value, ()


def _script(value: Value, _: bool) -> Iterator[Assignment]:
    yield MODE, ExecutionMode.SCRIPT.value, ()
    yield SCRIPT, value, ()


def _function(value: Value, _: bool) -> Iterator[Assignment]:
    yield MODE, ExecutionMode.FUNCTION.value, ()
    yield FUNCTION, value, ()


def _form(value: Value, _: bool) -> Iterator[Assignment]:
    yield MODE, ExecutionMode.HUMAN_ONLY.value, ()
    yield (*FORM, "input_fields"), [_field(item) for item in value] if isinstance(value, list) else value, ()


def _field(item: Value) -> Value:
    return {"name": item} if isinstance(item, str) else item


def _outputs(value: Value, is_form: bool) -> Iterator[Assignment]:
    artifacts = [_artifact(item) for item in value] if isinstance(value, list) else value
    yield ARTIFACTS, artifacts, ()
    if is_form and isinstance(artifacts, list) and len(artifacts) == 1 and isinstance(only := artifacts[0], dict):
        yield (*FORM, "save_as_artifact"), True, (0,)
        yield (*FORM, "artifact_name"), only.get("name"), (0,)
        yield (*FORM, "artifact_format"), only.get("format"), (0,)


def _artifact(item: Value) -> Value:
    if not isinstance(item, str):
        return item
    name, dot, extension = item.rpartition(".")
    return {"name": name, "format": extension} if dot else {"name": item}


def _approve(value: Value, _: bool) -> Iterator[Assignment]:
    if value in ("start", "both"):
        yield ("human_interaction", "requires_approval_to_start"), True, ()
    if value in ("complete", "both"):
        yield ("human_interaction", "requires_approval_to_complete"), True, ()


# In the order of expansion.
_FORMS: dict[str, Callable[[Value, bool], Iterator[Assignment]]] = {
    "agent": _agent,
    "script": _script,
    "function": _function,
    "form": _form,
    "prompt": _prompt,
    "outputs": _outputs,
    "approve": _approve,
}
SHORT_FORMS = (*_FORMS, "needs")


@dataclass(slots=True)
class _Draft:
    """A checkpoint while its short forms are expanded."""

    document: Document
    origins: SourcePointers
    target: str
    source: str
    findings: list[Finding] = field(default_factory=list[Finding])

    def get(self, path: tuple[str, ...]) -> Value:
        found: Value = self.document
        for part in path:
            found = found.get(part) if isinstance(found, dict) else None
        return found

    def set(self, path: tuple[str, ...], value: Value, key: str, inner: tuple[str | int, ...] = ()) -> None:
        holder = self._holder(path[:-1])
        if holder is None:
            return  # a value on the path is not an object, which the shape check reports
        if path[-1] not in holder:
            holder[path[-1]] = value
            self.origins.move(f"{self.target}{join(path)}", f"{child(self.source, key)}{join(inner)}")
        elif (current := holder[path[-1]]) != value:
            message = f"`{key}` contradicts `{'.'.join(path)}`: remove one of them"
            if path == MODE:
                message = f"`{key}` sets the mode to {value}, but it is already {current}: remove one of them"
            self.findings.append(Finding(child(self.source, key), message))

    def _holder(self, path: tuple[str, ...]) -> Document | None:
        """The object at the path, created if missing. The author's objects are copied, not changed."""
        found = self.document
        for part in path:
            inner = found.get(part, {})
            if not isinstance(inner, dict):
                return None
            found[part] = found = dict(inner)
        return found
