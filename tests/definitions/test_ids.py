"""Ids are stable across revisions; times and versions follow."""

from __future__ import annotations

from typing import Any

import pytest

from cairn.definitions import assign_ids, is_structural, load, structure, without_ids
from cairn.documents import canonical
from tests.definitions.corpus import EVENING, MORNING, ids, no_id, pipeline, saved, saved_again

AGENTS = {
    "creation_mode": "predefined",
    "agents": [{"library_agent": "critic"}, {"library_agent": "critic"}, {"name": "x"}],
}
DOCUMENT = pipeline(
    {"key": "a", "form": ["x", "y"], "outputs": ["goals.json"]},
    {"key": "b", "prompt": "do", "execution": {"mode": "agentic", "agent_config": AGENTS}, "outputs": ["r.md", "s.md"]},
    {"key": "c", "agent": {"name": "one", "task_prompt": "x"}},
)


def changed(**checkpoints: Any) -> Any:
    """The document with some fields of its checkpoints changed."""
    listed: Any = DOCUMENT["checkpoints"]
    return DOCUMENT | {"checkpoints": [checkpoint | checkpoints.get(checkpoint["key"], {}) for checkpoint in listed]}


def test_every_part_gets_its_own_id() -> None:
    definition = saved(DOCUMENT)
    a, b, c = definition.checkpoints
    assert a.execution.human_only_config
    assert b.execution.agent_config
    assert c.execution.agent_config
    assert c.execution.agent_config.agent
    all_ids = [
        definition.pipeline_id,
        *(checkpoint.checkpoint_id for checkpoint in definition.checkpoints),
        *(artifact.artifact_id for checkpoint in definition.checkpoints for artifact in checkpoint.output.artifacts),
        *(field.field_id for field in a.execution.human_only_config.input_fields),
        *(agent.agent_id for agent in b.execution.agent_config.agents),
        c.execution.agent_config.agent.agent_id,
    ]
    assert None not in all_ids
    assert len(set(all_ids)) == len(all_ids) == 13
    assert definition.checkpoint_order == tuple(checkpoint.checkpoint_id for checkpoint in definition.checkpoints)
    assert (definition.created_at, definition.updated_at, definition.pipeline_definition_version) == (
        MORNING,
        MORNING,
        1,
    )


def test_saving_an_unchanged_definition_changes_nothing() -> None:
    old = saved(DOCUMENT)
    assert saved_again(DOCUMENT, old) == old
    assert saved_again(old.document, old) == old


def test_a_changed_part_keeps_its_id_and_gets_a_new_time() -> None:
    old = saved(DOCUMENT)
    new = saved_again(changed(b={"prompt": "do more"}), old)
    assert structure(new) == structure(old)
    assert [checkpoint.updated_at for checkpoint in new.checkpoints] == [MORNING, EVENING, MORNING]
    assert [checkpoint.created_at for checkpoint in new.checkpoints] == [MORNING] * 3
    assert (new.created_at, new.updated_at, new.pipeline_definition_version) == (MORNING, EVENING, 1)


def test_renaming_a_key_keeps_the_checkpoint_if_its_id_is_given() -> None:
    old = saved(DOCUMENT)
    a = old.checkpoints[0]
    document = changed(a={"key": "z", "checkpoint_name": "Z", "checkpoint_id": a.checkpoint_id})
    document["checkpoints"].append({"key": "a", "checkpoint_name": "New A", "prompt": "x"})
    new = saved_again(document, old, lambda: "ffffffff-0000-4000-8000-000000000000")
    assert new.checkpoints[0].checkpoint_id == a.checkpoint_id
    assert new.checkpoints[0].output.artifacts == a.output.artifacts
    assert new.checkpoints[3].checkpoint_id == "ffffffff-0000-4000-8000-000000000000"


def test_renaming_a_part_keeps_it_if_its_id_is_given() -> None:
    old = saved(DOCUMENT)
    r, s = old.checkpoints[1].output.artifacts
    outputs = [{"name": "t", "format": "md", "artifact_id": s.artifact_id}, "r.md"]
    new = saved_again(changed(b={"outputs": outputs}), old)
    assert [(artifact.name, artifact.artifact_id) for artifact in new.checkpoints[1].output.artifacts] == [
        ("t", s.artifact_id),
        ("r", r.artifact_id),
    ]


def test_ids_of_another_pipeline_are_not_adopted() -> None:
    other = saved(DOCUMENT)
    copy = assign_ids(load(other.document).definition, None, ids())
    assert copy.checkpoint_order == other.checkpoint_order, "the same numbers in the same order"
    old = saved(pipeline({"key": "z", "prompt": "x"}))
    with pytest.raises(AssertionError, match="expected no new id"):
        saved_again(other.document, old)


def test_an_import_keeps_its_ids() -> None:
    old = saved(DOCUMENT)
    assert assign_ids(load(old.document).definition, None, no_id, keep=True).document == {
        **old.document,
        "checkpoint_order": list(old.checkpoint_order),
    }


def test_ids_are_in_lower_case() -> None:
    upper = "ABCDEF00-0000-4000-8000-000000000000"
    document = pipeline({"key": "a", "prompt": "x", "checkpoint_id": upper}, pipeline_id=upper)
    definition = assign_ids(load(document).definition, None, no_id, keep=True)
    assert (definition.pipeline_id, definition.checkpoint_order) == (upper.lower(), (upper.lower(),))


def test_only_adding_removing_and_reordering_is_structural() -> None:
    old = saved(DOCUMENT)
    listed: Any = DOCUMENT["checkpoints"]
    a, b, c = listed
    cases: list[tuple[Any, int]] = [
        ([a, b, c], 1),
        ([a, b, c | {"stage": "s", "needs": ["a"]}], 1),
        ([a, b], 2),
        ([a, b, c, {"key": "d", "prompt": "x"}], 2),
        ([b, a, c], 2),
    ]
    for checkpoints, expected in cases:
        new = saved_again(DOCUMENT | {"checkpoints": checkpoints}, old, ids_from(100))
        assert is_structural(old, new) is (expected == 2)
        assert new.pipeline_definition_version == expected


def ids_from(start: int) -> Any:
    next_id = ids()
    for _ in range(start):
        next_id()
    return next_id


def test_without_ids_removes_ids_times_and_versions() -> None:
    first, second = saved(DOCUMENT), assign_ids(load(DOCUMENT).definition, None, ids_from(500))
    assert first != second
    assert without_ids(first) == without_ids(second) == load(DOCUMENT).definition
    assert canonical(without_ids(first).document) == canonical(load(DOCUMENT).definition.document)
