"""When executions start, and who starts them."""

from __future__ import annotations

from dataclasses import replace

from cairn.core.commands import PauseRun, RetryExecution, StartExecution, StartRun
from cairn.core.effects import CreateWorkspace, DeleteWorkspaces, Dispatch, PromoteArtifacts
from cairn.core.errors import StaleCommand
from cairn.core.plan import CheckpointPolicy
from cairn.core.states import ExecutionMode, ExecutionState, RunStatus, WaitingOn
from tests.core.harness import BEGIN, RESULT, Harness, plan_of


def test_a_new_run_waits_to_be_started() -> None:
    harness = Harness(plan_of("a"), started=False)
    assert (harness.run.status, harness.run.started_at) == (RunStatus.NOT_STARTED, None)
    assert harness.refuses(PauseRun()).suggestions == ("start", "cancel")
    harness.send(StartRun())
    assert (harness.run.status, harness.run.started_at) == (RunStatus.IN_PROGRESS, harness.at)
    harness.refuses(StartRun())


def test_starting_a_run_starts_its_first_checkpoint_even_without_auto_advance() -> None:
    harness = Harness(plan_of(("a", "b"), "c", auto_advance=False))
    assert harness.states == {"a": "WORKING", "b": "WORKING"}


def test_the_next_checkpoint_waits_for_a_manual_start_without_auto_advance() -> None:
    harness = Harness(plan_of("a", "b", auto_advance=False))
    harness.finish("a")
    assert harness.states == {"a": "COMPLETED", "b": "PENDING"}
    harness.refuses(StartExecution(harness.e("a").id))
    harness.send(StartExecution(harness.e("b").id))
    assert harness.states == {"a": "COMPLETED", "b": "WORKING"}
    harness.refuses(StartExecution("nowhere"), StaleCommand)


def test_the_next_checkpoint_starts_automatically_with_auto_advance() -> None:
    harness = Harness(plan_of("a", "b"))
    harness.finish("a")
    assert harness.states == {"a": "COMPLETED", "b": "WORKING"}


def test_completion_and_start_of_the_next_execution_are_one_decision() -> None:
    harness = Harness(plan_of("a", "b"))
    a = harness.e("a")
    harness.finish("a")
    b = harness.e("b")
    assert harness.event_types == [
        "artifacts_created",
        "execution_completed",
        "artifacts_promoted",
        "execution_created",
        "execution_dispatched",
    ]
    assert harness.last.effects == (
        PromoteArtifacts(a.id),
        CreateWorkspace(b.id),
        DeleteWorkspaces((a.id,)),
        Dispatch(b.id, 1),
    )
    assert harness.e("a") == a.replace(
        state=ExecutionState.COMPLETED,
        digest="d",
        outputs=(RESULT.id,),
        completed_at=harness.at,
        active_since=None,
        active_seconds=1.0,
        has_workspace=False,
    )


def test_the_run_completes_with_its_last_checkpoint() -> None:
    harness = Harness(plan_of("a"))
    harness.finish("a")
    assert (harness.run.status, harness.run.completed_at) == (RunStatus.COMPLETED, harness.at)
    assert harness.event_types[-1] == "run_completed"
    assert harness.effects(DeleteWorkspaces) == [DeleteWorkspaces((harness.e("a").id,))]


def test_a_start_that_needs_approval_requests_it_at_once() -> None:
    harness = Harness(
        plan_of(
            "a", policies={"a": CheckpointPolicy(requires_start_approval=True, digest="definition")}, auto_advance=False
        )
    )
    assert harness.states == {"a": "AWAITING_START_APPROVAL"}
    assert harness.pending_approval("a").digest == "definition"
    assert harness.last.effects == (CreateWorkspace(harness.e("a").id),)
    assert harness.e("a").started_at is None
    harness.answer("a", "approve")
    assert harness.states == {"a": "WORKING"}
    assert harness.e("a").start_approved


def test_a_rejected_start_returns_to_pending_and_can_be_requested_again() -> None:
    harness = Harness(plan_of("a", policies={"a": CheckpointPolicy(requires_start_approval=True)}))
    harness.answer("a", "refuse", feedback="not now")
    assert harness.states == {"a": "PENDING"}
    assert harness.event_types == ["approval_rejected", "execution_start_rejected"]
    harness.send(StartExecution(harness.e("a").id))
    assert harness.states == {"a": "AWAITING_START_APPROVAL"}
    assert len(harness.run.approvals) == 2


def test_a_stage_runs_in_parallel_and_the_next_waits_for_all_of_it() -> None:
    harness = Harness(plan_of("a", ("b", "c"), "d"))
    harness.finish("a")
    assert harness.states == {"a": "COMPLETED", "b": "WORKING", "c": "WORKING"}
    harness.finish("c")
    assert harness.states == {"a": "COMPLETED", "b": "WORKING", "c": "COMPLETED"}
    harness.finish("b")
    assert harness.states == {"a": "COMPLETED", "b": "COMPLETED", "c": "COMPLETED", "d": "WORKING"}


def test_a_checkpoint_starts_as_soon_as_its_needs_are_complete() -> None:
    harness = Harness(plan_of(("a", "b"), "c", "d", needs={"d": ("b",)}))
    harness.finish("b")
    assert harness.states == {"a": "WORKING", "b": "COMPLETED", "d": "WORKING"}
    harness.finish("a")
    assert harness.states == {"a": "COMPLETED", "b": "COMPLETED", "d": "WORKING", "c": "WORKING"}


def test_each_checkpoint_has_its_own_needs() -> None:
    plan = plan_of(("a", "b"), "c", "d", needs={"d": ("b",)})
    assert plan.prerequisites == {
        "a": frozenset(),
        "b": frozenset(),
        "c": frozenset({"a", "b"}),
        "d": frozenset({"b"}),
    }
    assert plan.stages == {"stage 0": ("a", "b"), "stage 1": ("c",), "stage 2": ("d",)}


def test_a_human_checkpoint_is_dispatched_after_its_form_is_submitted() -> None:
    harness = Harness(plan_of("a", policies={"a": CheckpointPolicy(mode=ExecutionMode.HUMAN_ONLY, digest="form")}))
    assert (harness.e("a").state, harness.e("a").waiting_on) == (ExecutionState.WAITING, WaitingOn.HUMAN_FORM)
    assert harness.pending_approval("a").digest == "form"
    harness.answer("a", "answer", answer="checksum")
    assert (harness.states, harness.e("a").answer, harness.e("a").answered) == ({"a": "WORKING"}, "checksum", True)
    harness.finish("a")
    assert harness.run.status is RunStatus.COMPLETED


def test_the_dispatch_number_never_decreases() -> None:
    harness = Harness(
        plan_of("a", policies={"a": CheckpointPolicy(requires_completion_approval=True, max_auto_retries=1)})
    )
    numbers = [harness.e("a").dispatch]
    harness.fail("a")
    harness.retry_due("a")
    numbers.append(harness.e("a").dispatch)
    harness.fail("a")
    harness.send(RetryExecution(harness.e("a").id, 2))
    numbers.append(harness.e("a").dispatch)
    harness.finish("a")
    harness.answer("a", "revise")
    numbers.append(harness.e("a").dispatch)
    assert numbers == [1, 2, 3, 4]


def test_a_run_keeps_its_graph_and_later_executions_use_the_newest_definition() -> None:
    harness = Harness(plan_of("a", "b", policies={"a": CheckpointPolicy(max_auto_retries=1)}))
    edited = replace(harness.run.plan, policies={key: CheckpointPolicy(max_auto_retries=5) for key in "ab"}, revision=2)
    harness.run = harness.run.replace(plan=edited)
    harness.fail("a")
    harness.retry_due("a")
    assert (harness.e("a").definition, harness.e("a").policy.max_auto_retries) == (1, 1)
    harness.fail("a")
    assert harness.states == {"a": "FAILED"}
    harness.send(RetryExecution(harness.e("a").id, 2))
    assert (harness.e("a").definition, harness.e("a").policy.max_auto_retries) == (2, 5)
    harness.finish("a")
    assert (harness.e("b").definition, harness.e("b").policy.max_auto_retries) == (2, 5)


def test_ids_are_derived_from_the_command_and_the_run() -> None:
    first, again = Harness(plan_of("a")), Harness(plan_of("a"))
    assert first.e("a").id == again.e("a").id
    other = Harness(plan_of("a"), started=False)
    other.run = other.run.replace(id="another run")
    other.send(StartRun())
    assert other.e("a").id != first.e("a").id


def test_a_new_execution_has_these_values() -> None:
    harness = Harness(plan_of("a", revision=7))
    e = harness.e("a")
    assert (e.key, e.position, e.pass_number, e.ordinal, e.definition) == ("a", 0, 1, 1, 7)
    assert (e.created_at, e.started_at, e.active_since) == (harness.at, harness.at, harness.at)
    assert harness.at > BEGIN


def test_a_run_without_checkpoints_is_complete_at_once() -> None:
    assert Harness(plan_of()).run.status is RunStatus.COMPLETED
