"""Invalid names, needs and stages are rejected, each error with its path."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from cairn.definitions import check, compile_plan, load
from tests.definitions.corpus import pipeline
from tests.definitions.expected_findings import errors, findings_of, step
from tests.mentions import mentions

ID = "00000000-0000-4000-8000-000000000001"


def test_checkpoint_keys_names_and_ids_are_unique() -> None:
    assert errors(
        step("a", checkpoint_name="Same", checkpoint_id=ID),
        step("a", checkpoint_name="Same ", checkpoint_id=ID),
        step("input"),
    ) == [
        ("/checkpoints/1/key", mentions("'a'", "/checkpoints/0")),
        ("/checkpoints/1/checkpoint_name", mentions("'Same'", "/checkpoints/0")),
        ("/checkpoints/1/checkpoint_id", mentions(f"'{ID}'", "/checkpoints/0")),
        ("/checkpoints/2/key", mentions("'input'")),
    ]


def test_artifact_field_and_agent_names_are_unique() -> None:
    agents = {"creation_mode": "predefined", "agents": [{"name": "x"}, {"name": "y"}, {"name": "x"}]}
    assert errors(
        step("a", outputs=["r.md", "r.json", "s.md"]),
        {"key": "b", "form": ["x", {"name": "x", "type": "number"}]},
        {"key": "c", "prompt": "do", "execution": {"mode": "agentic", "agent_config": agents}},
    ) == [
        ("/checkpoints/0/outputs/1", mentions("'r'", "/checkpoints/0/output/artifacts/0")),
        (
            "/checkpoints/1/form/1/name",
            mentions("'x'", "/checkpoints/1/execution/human_only_config/input_fields/0"),
        ),
        (
            "/checkpoints/2/execution/agent_config/agents/2/name",
            mentions("'x'", "/checkpoints/2/execution/agent_config/agents/0"),
        ),
    ]


def test_library_agents_can_take_part_twice() -> None:
    agents = {"creation_mode": "predefined", "agents": [{"library_agent": "critic"}, {"library_agent": "critic"}]}
    assert errors({"key": "a", "execution": {"mode": "agentic", "agent_config": agents}}) == []


def test_needs_exist_and_come_before() -> None:
    assert errors(
        step("plan", needs=["build"]),
        step("build", needs=["plam", "plan"]),
        step("test", dependencies={"required_checkpoint_ids": ["later"]}),
        step("later"),
    ) == [
        (
            "/checkpoints/0/needs",
            mentions("plan → build → plan"),
        ),
        ("/checkpoints/1/needs/0", mentions("'plam'", "'plan'")),
        (
            "/checkpoints/2/dependencies/required_checkpoint_ids/0",
            mentions("'test'", "'later'"),
        ),
    ]


def test_every_cycle_is_reported() -> None:
    assert errors(
        step("a", needs=["c"]),
        step("b", needs=["a"]),
        step("c", needs=["b"]),
        step("d", needs=["d"]),
        step("e", needs=["f"]),
        step("f", needs=["e"]),
    ) == [
        ("/checkpoints/0/needs", mentions("a → c → b → a")),
        ("/checkpoints/3/needs", mentions("'d'")),
        ("/checkpoints/4/needs", mentions("e → f → e")),
    ]


def test_many_needs_are_checked_quickly() -> None:
    keys = [f"k{at}" for at in range(200)]
    assert errors(*(step(key, needs=keys[:at]) for at, key in enumerate(keys))) == []
    cycles = findings_of(*(step(key, needs=[other for other in keys if other != key]) for key in keys))
    assert cycles[0].message == mentions("k0 → k1 → k0")


def test_members_of_a_stage_are_adjacent() -> None:
    assert errors(
        step("a", stage="one"), step("b"), step("c", stage="one"), step("d", stage="two"), step("e", stage="two")
    ) == [("/checkpoints/2/stage", mentions("'c'", "'a'"))]


def test_a_stage_cannot_have_the_name_of_a_checkpoint_that_is_its_own_stage() -> None:
    message = mentions("'a'")
    assert errors(step("a"), step("b", stage="a")) == [("/checkpoints/1/stage", message)]
    assert errors(step("b", stage="a"), step("a")) == [("/checkpoints/0/stage", message)]
    assert errors(step("a", stage="a"), step("b", stage="a")) == []


def test_a_deciding_checkpoint_is_alone_in_its_stage() -> None:
    assert errors(step("a", stage="s", decides=True), step("b", stage="s"), step("c", decides=True)) == [
        ("/checkpoints/0/decides", mentions("'s'", "'b'"))
    ]


KEYS = [f"k{at}" for at in range(6)]


@settings(deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from([None, "s1", "s2"]), st.sets(st.sampled_from(KEYS), max_size=3)),
        min_size=1,
        max_size=6,
    )
)
def test_a_valid_definition_can_be_run_to_its_end(shape: list[tuple[str | None, set[str]]]) -> None:
    steps: list[Any] = [
        step(key, needs=sorted(needs), **({"stage": stage} if stage else {}))
        for key, (stage, needs) in zip(KEYS, shape, strict=False)
    ]
    document = pipeline(*steps)
    if check(document):
        return
    plan = compile_plan(load(document).definition, load(document).definition)
    done: set[str] = set()
    while ready := [key for key, needed in plan.prerequisites.items() if key not in done and needed <= done]:
        done |= set(ready)
    assert done == {checkpoint["key"] for checkpoint in steps}
