"""Patches of a checkpoint, in the full form or with short forms."""

from __future__ import annotations

from typing import Any, cast

import pytest

from cairn.definitions import Document, apply_patch, load
from cairn.definitions.model import CheckpointDefinition
from tests.definitions.corpus import pipeline, saved, saved_again


def patched(checkpoint: Any, **changes: Any) -> CheckpointDefinition:
    """The checkpoint after the change, with its ids."""
    old = saved(pipeline({"key": "first", "prompt": "x"}, {"key": "a", **checkpoint}))
    stored: Any = old.document
    first, second = stored["checkpoints"]
    document: Document = pipeline(first, apply_patch(second, changes))
    new = saved_again(document, old, lambda: "00000000-0000-4000-8000-0000000000ff")
    assert new.checkpoints[1].checkpoint_id == old.checkpoints[1].checkpoint_id
    return new.checkpoints[1]


def created(**checkpoint: Any) -> CheckpointDefinition:
    return load(pipeline({"key": "first", "prompt": "x"}, {"key": "a", **checkpoint})).definition.checkpoints[1]


def content(checkpoint: CheckpointDefinition) -> Any:
    """Without ids and times."""
    document = checkpoint.document
    for name in ("checkpoint_id", "created_at", "updated_at"):
        document.pop(name, None)
    return repr(_without_ids(document))


def _without_ids(value: Any) -> Any:
    if isinstance(value, dict):
        inner = cast("dict[str, Any]", value)
        ids = ("artifact_id", "field_id", "agent_id")
        return {key: _without_ids(member) for key, member in sorted(inner.items()) if key not in ids}
    if isinstance(value, list):
        return [_without_ids(item) for item in cast("list[Any]", value)]
    return value


@pytest.mark.parametrize(
    ("before", "changes", "after"),
    [
        ({"prompt": "x"}, {"prompt": "y"}, {"prompt": "y"}),
        ({"prompt": "x", "needs": ["first"]}, {"needs": []}, {"prompt": "x"}),
        ({"prompt": "x", "outputs": ["a.md"]}, {"outputs": ["b.md"]}, {"prompt": "x", "outputs": ["b.md"]}),
        ({"prompt": "x", "approve": "both"}, {"approve": "start"}, {"prompt": "x", "approve": "start"}),
        ({"prompt": "x"}, {"agent": "Critic"}, {"prompt": "x", "agent": "Critic"}),
        ({"agent": "Writer"}, {"agent": "Critic"}, {"agent": "Critic"}),
        ({"script": "a.py"}, {"function": "f"}, {"function": "f"}),
        ({"function": "f"}, {"script": "a.py"}, {"script": "a.py"}),
        (
            {"prompt": "x"},
            {"form": ["a"], "prompt": "y"},
            {"form": ["a"], "prompt": "y", "instructions": {"task_prompt": "x"}},
        ),
        ({"form": ["a"], "prompt": "x"}, {"prompt": "y"}, {"form": ["a"], "prompt": "y"}),
        ({"form": ["a"], "prompt": "x"}, {"form": ["b"]}, {"form": ["b"], "prompt": "x"}),
        ({"form": ["a"], "outputs": ["a.json"]}, {"outputs": ["b.md"]}, {"form": ["a"], "outputs": ["b.md"]}),
        ({"form": ["a"]}, {"script": "a.py", "prompt": "y"}, {"script": "a.py", "prompt": "y"}),
        (
            {"prompt": "x", "execution": {"retry_config": {"max_auto_retries": 2}}},
            {"script": "a.py"},
            {"prompt": "x", "script": "a.py", "execution": {"retry_config": {"max_auto_retries": 2}}},
        ),
        (
            {"prompt": "x"},
            {"checkpoint_name": "New", "decides": True},
            {"prompt": "x", "checkpoint_name": "New", "decides": True},
        ),
    ],
)
def test_a_patch_replaces_the_fields_it_contains(before: Any, changes: Any, after: Any) -> None:
    assert content(patched(before, **changes)) == content(created(**after))


def form(**config: Any) -> Any:
    return {"mode": "human_only", "human_only_config": {"instructions": "x", **config}}


def test_an_artifact_that_a_form_saves_under_another_name_keeps_its_id() -> None:
    before = {"execution": form(save_as_artifact=True, artifact_name="goals")}
    first = saved(pipeline({"key": "first", "prompt": "x"}, {"key": "a", **before})).checkpoints[1].output.artifacts[0]
    renamed = patched(before, execution=form(save_as_artifact=True, artifact_name="aims", artifact_format="md"))
    assert [(artifact.name, artifact.format, artifact.artifact_id) for artifact in renamed.output.artifacts] == [
        ("aims", "md", first.artifact_id)
    ]
    assert patched(before, execution=form()).output.artifacts == ()
    assert [
        artifact.name
        for artifact in patched(before, execution=form(save_as_artifact=True, artifact_name="goals")).output.artifacts
    ] == ["goals"]


def test_a_form_that_is_now_saved_declares_its_artifact() -> None:
    before = {"execution": form()}
    after = patched(before, execution=form(save_as_artifact=True, artifact_name="goals"))
    assert [artifact.name for artifact in after.output.artifacts] == ["goals"]


def test_a_patch_does_not_modify_the_original() -> None:
    checkpoint: Any = created(prompt="x", outputs=["a.md"]).document
    before = repr(checkpoint)
    apply_patch(checkpoint, {"prompt": "y", "outputs": [], "script": "a.py", "approve": "both", "needs": []})
    assert repr(checkpoint) == before
