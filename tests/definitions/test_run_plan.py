"""The plan that is compiled from a definition."""

from __future__ import annotations

from typing import Any

from cairn.core.plan import Checkpoint, CheckpointPolicy, Plan
from cairn.core.states import ExecutionMode, OnBlocker, OnFailure, OnInvalid
from cairn.definitions import compile_graph, compile_plan, compile_policies
from tests.definitions.corpus import pipeline, saved, saved_again

DOCUMENT = pipeline(
    {"key": "plan", "prompt": "x"},
    {"key": "build", "function": "f", "stage": "make", "needs": ["plan"]},
    {"key": "sell", "form": ["x"], "stage": "make"},
    {
        "key": "decide",
        "script": "a.py",
        "decides": True,
        "approve": "both",
        "human_interaction": {"max_revision_iterations": 1},
        "execution": {
            "retry_config": {"max_auto_retries": 2, "on_failure": "fail_run", "retry_delay_seconds": 7},
            "timeout_config": {"timeout_minutes": 1.5, "on_timeout": "rollback_checkpoint"},
        },
        "output": {
            "validation": {
                "validation_mode": "llm_schema",
                "on_validation_failure": "ask_human",
                "max_validation_retries": 4,
            }
        },
    },
    config={"auto_advance": True, "timeout_config": {"timeout_minutes": 60}},
    restart_policy={"require_second_pass": True, "max_restarts": 2},
    recovery={"on_external_blocker": "wait"},
)


def test_the_graph_is_compiled() -> None:
    definition = saved(DOCUMENT)
    plan, build, sell, decide = definition.checkpoint_order
    assert compile_graph(definition) == (
        Checkpoint("plan", 0, "plan", id=plan, name="Plan"),
        Checkpoint("build", 1, "make", ("plan",), id=build, name="Build"),
        Checkpoint("sell", 2, "make", id=sell, name="Sell"),
        Checkpoint("decide", 3, "decide", decides=True, id=decide, name="Decide"),
    )


def test_the_policies_are_compiled() -> None:
    policies = compile_policies(saved(DOCUMENT))
    digests = {key: policy.digest for key, policy in policies.items()}
    assert len(set(digests.values())) == 4
    assert policies == {
        "plan": CheckpointPolicy(mode=ExecutionMode.AGENTIC, digest=digests["plan"]),
        "build": CheckpointPolicy(mode=ExecutionMode.FUNCTION, digest=digests["build"]),
        "sell": CheckpointPolicy(mode=ExecutionMode.HUMAN_ONLY, digest=digests["sell"]),
        "decide": CheckpointPolicy(
            mode=ExecutionMode.SCRIPT,
            requires_start_approval=True,
            requires_completion_approval=True,
            max_auto_retries=2,
            retry_delay=7.0,
            on_failure=OnFailure.FAIL_RUN,
            timeout=90.0,
            on_timeout=OnFailure.ROLLBACK_CHECKPOINT,
            max_revisions=1,
            on_invalid=OnInvalid.ASK_HUMAN,
            max_validation_retries=4,
            digest=digests["decide"],
        ),
    }


def test_the_digest_covers_what_users_see_but_not_times() -> None:
    old = saved(DOCUMENT)
    listed: Any = DOCUMENT["checkpoints"]
    new = saved_again(DOCUMENT | {"checkpoints": [listed[0] | {"prompt": "y"}, *listed[1:]]}, old)
    before, after = compile_policies(old), compile_policies(new)
    assert [key for key in before if before[key].digest != after[key].digest] == ["plan"]
    touched = new.model_copy(
        update={
            "checkpoints": tuple(
                checkpoint.model_copy(update={"updated_at": "later"}) for checkpoint in new.checkpoints
            )
        }
    )
    assert compile_policies(touched) == after


def test_the_graph_is_that_of_the_start_and_all_else_is_the_newest() -> None:
    old = saved(DOCUMENT)
    listed: Any = DOCUMENT["checkpoints"]
    renamed = listed[1] | {
        "key": "make",
        "checkpoint_id": old.checkpoints[1].checkpoint_id,
        "stage": "other",
        "approve": "start",
    }
    new = saved_again(pipeline(listed[0], renamed, *listed[2:]), old)
    assert compile_plan(old, new, revision=7) == Plan(
        checkpoints=compile_graph(old),
        policies={"build" if key == "make" else key: policy for key, policy in compile_policies(new).items()},
        revision=7,
    )
    assert compile_plan(old, new).policy("build").requires_start_approval


def test_settings_of_the_pipeline_are_compiled() -> None:
    definition = saved(DOCUMENT)
    plan = compile_plan(definition, definition)
    assert plan == Plan(
        checkpoints=compile_graph(definition),
        policies=compile_policies(definition),
        auto_advance=True,
        run_timeout=3600.0,
        require_second_pass=True,
        max_restarts=2,
        on_blocker=OnBlocker.WAIT,
    )


def test_a_removed_checkpoint_keeps_its_earlier_policy() -> None:
    old = saved(DOCUMENT)
    empty = saved_again(pipeline(), old)
    plan = compile_plan(old, empty)
    assert plan.policies == compile_policies(old)
    assert plan.run_timeout is None


def test_checkpoints_are_found_by_key_and_id() -> None:
    definition = saved(DOCUMENT)
    assert definition.checkpoint("sell") is definition.checkpoints[2]
    assert definition.by_id[definition.checkpoints[1].checkpoint_id].key == "build"
