"""Differences between two definitions."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings

from cairn.definitions import Change, ChangeKind, diff, text_diff
from tests.definitions.corpus import ids, pipeline, saved, saved_again
from tests.definitions.drafts import pipelines
from tests.effort import examples

A: Any = {"key": "a", "prompt": "x", "outputs": ["r.md", "s.md", "t.md"]}
B: Any = {"key": "b", "form": ["x"]}
C: Any = {"key": "c", "script": "c.py"}


def changes(before: Any, after: Any) -> list[Change]:
    old = saved(before)
    next_id = ids()
    for _ in range(100):
        next_id()
    return diff(old, saved_again(after, old, next_id))


def test_equal_definitions_have_no_changes() -> None:
    assert changes(pipeline(A, B), pipeline(A, B)) == []


def test_fields_are_changed_added_and_removed() -> None:
    before = pipeline(A, B, budget={"max_calls": 1}, original_prompt="p")
    after = pipeline(A | {"prompt": "y", "stage": "s"}, B, input_schema={}, budget={"max_tokens": 5})
    assert changes(before, after) == [
        Change("/original_prompt", ChangeKind.REMOVED, before="p"),
        Change("/budget/max_calls", ChangeKind.REMOVED, before=1),
        Change("/budget/max_tokens", ChangeKind.ADDED, after=5),
        Change("/input_schema", ChangeKind.ADDED, after={}),
        Change("/checkpoints/0/instructions/task_prompt", ChangeKind.CHANGED, "x", "y"),
        Change("/checkpoints/0/stage", ChangeKind.ADDED, after="s"),
    ]


def test_values_of_different_types_differ() -> None:
    script: Any = {"script_path": "a.py", "parameters": {"n": 1}}
    other: Any = script | {"parameters": {"n": 1.0}}
    before, after = (
        {"key": "a", "execution": {"mode": "script", "script_config": config}} for config in (script, other)
    )
    assert changes(pipeline(before), pipeline(after)) == [
        Change("/checkpoints/0/execution/script_config/parameters/n", ChangeKind.CHANGED, 1, 1.0)
    ]


def test_checkpoints_are_added_removed_and_moved() -> None:
    found = changes(pipeline(A, B, C), pipeline(C, {"key": "d", "prompt": "d"}, A))
    assert [(change.path, change.kind) for change in found] == [
        ("/checkpoints/1", ChangeKind.REMOVED),
        ("/checkpoints/0", ChangeKind.MOVED),
        ("/checkpoints/1", ChangeKind.ADDED),
    ]


def test_a_renamed_checkpoint_is_the_same_one() -> None:
    old = saved(pipeline(A))
    new = saved_again(pipeline(A | {"key": "z", "checkpoint_id": old.checkpoints[0].checkpoint_id}), old)
    assert diff(old, new) == [
        Change("/checkpoints/0/key", ChangeKind.CHANGED, "a", "z"),
        Change("/checkpoints/0/checkpoint_name", ChangeKind.CHANGED, "A", "Z"),
    ]


def test_artifacts_are_matched_by_id() -> None:
    found = changes(pipeline(A), pipeline(A | {"outputs": ["u.md", "t.md", "r.json"]}))
    pointer = "/checkpoints/0/output/artifacts"
    assert [(change.path, change.kind) for change in found] == [
        (f"{pointer}/1", ChangeKind.REMOVED),
        (f"{pointer}/0", ChangeKind.ADDED),
        (f"{pointer}/1", ChangeKind.MOVED),
        (f"{pointer}/2/format", ChangeKind.CHANGED),
    ]


def test_the_text_diff_shows_the_yaml() -> None:
    old = saved(pipeline(A, B))
    new = saved_again(pipeline(A | {"prompt": "y"}, B), old)
    assert (
        text_diff(old, new, ("revision 1", "revision 2"))
        == """\
--- revision 1
+++ revision 2
@@ -1,7 +1,7 @@
 pipeline_name: P
 checkpoints:
   - key: a
-    prompt: x
+    prompt: y
     outputs: [r.md, s.md, t.md]
   - key: b
     form: [x]
"""
    )
    assert text_diff(old, old) == ""


@settings(max_examples=examples(40))
@given(pipelines, pipelines)
def test_only_equal_definitions_have_no_differences(before: Any, after: Any) -> None:
    old = saved(before)
    next_id = ids()
    for _ in range(1000):
        next_id()
    new = saved_again(after, old, next_id)
    assert (diff(old, new) == []) is (old.document == new.document)
    assert diff(new, new) == []
