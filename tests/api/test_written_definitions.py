"""Every documented field of a definition is saved or refused by every operation that writes definitions."""

from __future__ import annotations

from typing import Any, cast

import pytest

from cairn.definitions import agent_schema, authoring_schema, load
from tests.api.app import App, Json, form

pytestmark = pytest.mark.asyncio(loop_scope="module")

CHECKPOINT: Json = {
    "checkpoint_name": "Design it",
    "checkpoint_description": "How it looks",
    "stage": "first-stage",
    "needs": ["goals"],
    "dependencies": {"required_checkpoint_ids": ["goals"]},
    "inputs": {"include_previous_version": True, "include_checkpoint_outputs": [{"checkpoint_id": "goals"}]},
    "input_mapping": {"wish": "input.wish"},
    "input_schema": {"type": "object"},
    "output_schema": {"type": "object", "required": ["design"]},
    "execution": {
        "mode": "human_only",
        "human_only_config": {"instructions": "Draw it.", "input_fields": [{"name": "design", "label": "Design"}]},
        "retry_config": {"max_auto_retries": 2},
        "timeout_config": {"enabled": True, "timeout_minutes": 5},
    },
    "human_interaction": {"requires_approval_to_start": True, "max_revision_iterations": 4},
    "output": {"artifacts": [{"name": "plan", "format": "md"}]},
    "instructions": {"task_prompt": "Draw it well."},
    "loop": {"until": {"kind": "declared_done"}, "max_iterations": 3},
    "decides": True,
    "tool_approval": "by_rules",
    "key": "designed",
    # short forms
    "agent": {"name": "Designer", "role": "Draws.", "task_prompt": "Draw."},
    "prompt": "Draw it.",
    "script": "draw.py",
    "function": "samples.count_words",
    "form": ["wish"],
    "outputs": ["plan.md"],
    "approve": "both",
}
PIPELINE: Json = {
    "pipeline_name": "Renamed",
    "pipeline_description": "What it is for",
    "config": {"auto_advance": True},
    "input_schema": {"type": "object"},
    "restart_policy": {"max_restarts": 3},
    "recovery": {"max_recovery_attempts": 2},
    "budget": {"max_calls": 7},
    "original_prompt": "Do it",
    "actions": {"refund": {"risk_level": "high"}},
    "scripts": {"lib/one.py": "ONE = 1\n"},
    "checkpoints": [form("other")],
}
AGENT: Json = {
    "title": "The writer",
    "description": "Writes",
    "role": "Writes texts.",
    "system_prompt": "You write.",
    "task_prompt": "Write it.",
    "tools": ["file_operations"],
    "model": "simulated:test",
    "model_settings": {"temperature": 0.5},
    "input_schema": {"type": "object"},
    "output_schema": {"type": "object"},
}


def fields_of(schema: Json, *left_out: str) -> list[str]:
    """The fields that an author can set."""
    definitions = schema["$defs"]

    def is_read_only(field: Json) -> bool:
        return bool({**definitions.get(field.get("$ref", "").rpartition("/")[2], {}), **field}.get("readOnly"))

    return sorted(
        name for name, field in schema["properties"].items() if not is_read_only(field) and name not in left_out
    )


def checkpoint_schema() -> Json:
    schema = authoring_schema()
    return {**cast("Json", schema["$defs"])["Checkpoint"], "$defs": schema["$defs"]}


def contains(whole: Any, part: Any) -> bool:
    """Whether each given value is in the full form."""
    match part:
        case dict():
            fields = cast("Json", part)
            return isinstance(whole, dict) and all(
                name in whole and contains(cast("Json", whole)[name], value) for name, value in fields.items()
            )
        case list():
            values, found = cast("list[Any]", part), cast("list[Any]", whole)
            return len(values) == len(found) and all(map(contains, found, values))
        case _:
            return whole == part


def full_form(name: str, **others: Any) -> Json:
    """The full form of a checkpoint, for the field that its short form sets."""
    document: Any = {
        "pipeline_name": "x",
        "checkpoints": [form("goals"), {"key": "x", name: CHECKPOINT[name], **others}],
    }
    return cast("Json", load(document).definition.document)["checkpoints"][1]


async def test_every_field_of_the_schema_is_tried() -> None:
    assert fields_of(checkpoint_schema()) == sorted(CHECKPOINT)
    assert fields_of(authoring_schema(), "$schema", "checkpoint_order") == sorted(PIPELINE)
    assert fields_of(agent_schema(), "$schema", "name") == sorted(AGENT)


SHORT = {
    "agent": "execution",
    "script": "execution",
    "function": "execution",
    "form": "execution",
    "prompt": "execution",
    "outputs": "output",
    "approve": "human_interaction",
    "needs": "dependencies",
}


def assert_saved(saved: Json, name: str) -> None:
    if name in SHORT:
        others = {"form": ["design"]} if name in ("prompt", "outputs", "approve", "needs") else {}
        expected = full_form(name, **others)[SHORT[name]]
        ids = {"agent_id", "artifact_id", "field_id"}
        assert without(saved[SHORT[name]], ids) == without(expected, ids)
    else:
        assert contains(saved[name], CHECKPOINT[name])


def without(value: Any, names: set[str]) -> Any:
    match value:
        case dict():
            return {key: without(one, names) for key, one in cast("Json", value).items() if key not in names}
        case list():
            return [without(one, names) for one in cast("list[Any]", value)]
        case _:
            return value


FORM: Json = {"form": ["design"]}
BY_AGENT: Json = {"prompt": "Draw."}
BASES: dict[str, Json] = dict.fromkeys(("loop", "output", "tool_approval"), BY_AGENT)


async def two(app: App, name: str = "") -> tuple[Json, Json]:
    """A pipeline with goals and a design, and its design, which can have a field of this name."""
    pipeline = await app.pipeline(form("goals"), {"key": "design", **BASES.get(name, FORM)})
    return pipeline, pipeline["checkpoints"][1]


@pytest.mark.parametrize("name", sorted(CHECKPOINT))
async def test_a_field_of_a_checkpoint_is_updated(app: App, name: str) -> None:
    _, design = await two(app, name)
    path = f"/api/checkpoints/{design['checkpoint_id']}"
    await app.put(path, {name: CHECKPOINT[name]})
    assert_saved(await app.get(path), name)


@pytest.mark.parametrize("name", sorted(CHECKPOINT))
async def test_a_field_of_a_new_checkpoint_is_saved(app: App, name: str) -> None:
    pipeline, _ = await two(app)
    needed = {} if name in ("agent", "script", "function", "form", "execution") else BASES.get(name, FORM)
    body = {"key": "third", **needed, name: CHECKPOINT[name]}
    made = [
        await app.post(f"/api/pipelines/{pipeline['pipeline_id']}/checkpoints", body, 201),
        await app.post("/api/checkpoints", {**body, "pipeline_id": (await two(app))[0]["pipeline_id"]}, 201),
    ]
    for checkpoint in made:
        assert_saved(await app.get(f"/api/checkpoints/{checkpoint['checkpoint_id']}"), name)


@pytest.mark.parametrize("name", sorted(PIPELINE))
async def test_a_field_of_a_pipeline_is_saved(app: App, name: str) -> None:
    base = {"pipeline_name": "First", "checkpoints": [form("goals")]}
    created = await app.post("/api/pipelines", {**base, name: PIPELINE[name]}, 201)
    other = await app.pipeline()
    path = f"/api/pipelines/{other['pipeline_id']}"
    updated = await app.put(path, {name: PIPELINE[name]})
    replaced = await app.put(f"{path}/definition", {**base, name: PIPELINE[name]})
    for saved in (created, updated, replaced, await app.get(path)):
        match name:
            case "checkpoints":
                assert [checkpoint["key"] for checkpoint in saved[name]] == ["other"]
            case "scripts":
                assert list(saved[name]) == list(PIPELINE[name])
            case _:
                assert contains(saved[name], PIPELINE[name])
    compared = await app.post(f"{path}/diff", {**base, name: PIPELINE[name], "pipeline_description": "another"})
    assert "/pipeline_description" in {change["path"] for change in compared["changes"]}


@pytest.mark.parametrize("name", sorted(AGENT))
async def test_a_field_of_an_agent_is_saved(app: App, name: str) -> None:
    path = f"/api/agents/Tried {name.replace('_', ' ')}"
    await app.put(path, {"role": "Writes.", name: AGENT[name]})
    assert contains(await app.get(path), {name: AGENT[name]})


async def test_fields_that_cairn_sets_keep_their_values_or_are_refused(app: App) -> None:
    pipeline, design = await two(app)
    path = f"/api/checkpoints/{design['checkpoint_id']}"
    same = {name: design[name] for name in ("pipeline_id", "checkpoint_id", "position")}
    assert (await app.put(path, same))["position"] == 1
    other = {"pipeline_id": design["checkpoint_id"], "checkpoint_id": pipeline["pipeline_id"], "position": 0}
    refused = await app.put(path, other, 422)
    assert sorted(error["path"] for error in refused["errors"]) == ["/checkpoint_id", "/pipeline_id", "/position"]
    whole = f"/api/pipelines/{pipeline['pipeline_id']}"
    assert (await app.put(whole, {"pipeline_id": pipeline["pipeline_id"]}))["revision"] == 1
    assert (await app.put(whole, {"pipeline_id": design["checkpoint_id"]}, 422))["errors"][0]["path"] == "/pipeline_id"


async def test_a_checkpoint_as_it_was_read_can_be_sent_back_with_changed_needs(app: App) -> None:
    """A response contains the needs twice: `needs` and `dependencies`."""
    _, design = await two(app)
    path = f"/api/checkpoints/{design['checkpoint_id']}"
    changes: list[Json] = [{"needs": ["goals"]}, {"dependencies": {"required_checkpoint_ids": []}}]
    for changed in changes:
        await app.put(path, {**await app.get(path), **changed})
        saved = await app.get(path)
        expected = changed.get("needs", [])
        assert (saved["needs"], saved["dependencies"]["required_checkpoint_ids"]) == (expected, expected)
    both = {"needs": ["goals"], "dependencies": {"required_checkpoint_ids": ["nothing"]}}
    assert (await app.put(path, both, 422))["errors"][0]["path"] == "/needs"
