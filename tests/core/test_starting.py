"""What starts, when, and by whom."""

from __future__ import annotations

from dataclasses import replace

from cairn.core.commands import PauseRun, RetryExecution, StartExecution, StartRun
from cairn.core.effects import CreateWorkspace, DeleteWorkspaces, Dispatch, PromoteArtifacts
from cairn.core.errors import StaleCommand
from cairn.core.plan import CheckpointPolicy
from cairn.core.states import ExecutionMode, ExecutionState, RunStatus, WaitingOn
from tests.core.desk import BEGIN, RESULT, Desk, plan_of


def test_a_new_run_waits_to_be_started() -> None:
    desk = Desk(plan_of("a"), started=False)
    assert (desk.run.status, desk.run.started_at) == (RunStatus.NOT_STARTED, None)
    assert desk.refuses(PauseRun()).possible == ("start", "cancel")
    desk.send(StartRun())
    assert (desk.run.status, desk.run.started_at) == (RunStatus.IN_PROGRESS, desk.at)
    desk.refuses(StartRun())


def test_starting_a_run_starts_its_first_checkpoint_even_without_auto_advance() -> None:
    desk = Desk(plan_of(("a", "b"), "c", auto_advance=False))
    assert desk.states == {"a": "WORKING", "b": "WORKING"}


def test_the_next_checkpoint_waits_for_a_manual_start_without_auto_advance() -> None:
    desk = Desk(plan_of("a", "b", auto_advance=False))
    desk.finish("a")
    assert desk.states == {"a": "COMPLETED", "b": "PENDING"}
    desk.refuses(StartExecution(desk.e("a").id))
    desk.send(StartExecution(desk.e("b").id))
    assert desk.states == {"a": "COMPLETED", "b": "WORKING"}
    desk.refuses(StartExecution("nowhere"), StaleCommand)


def test_the_next_checkpoint_starts_automatically_with_auto_advance() -> None:
    desk = Desk(plan_of("a", "b"))
    desk.finish("a")
    assert desk.states == {"a": "COMPLETED", "b": "WORKING"}


def test_completion_and_start_of_the_next_execution_are_one_decision() -> None:
    desk = Desk(plan_of("a", "b"))
    a = desk.e("a")
    desk.finish("a")
    b = desk.e("b")
    assert desk.told == [
        "artifacts_created",
        "execution_completed",
        "artifacts_promoted",
        "execution_made",
        "execution_dispatched",
    ]
    assert desk.last.effects == (
        PromoteArtifacts(a.id),
        CreateWorkspace(b.id),
        DeleteWorkspaces((a.id,)),
        Dispatch(b.id, 1),
    )
    assert desk.e("a") == a.changed(
        state=ExecutionState.COMPLETED,
        digest="d",
        outputs=(RESULT.id,),
        completed_at=desk.at,
        working_since=None,
        worked=1.0,
        has_workspace=False,
    )


def test_the_run_completes_with_its_last_checkpoint() -> None:
    desk = Desk(plan_of("a"))
    desk.finish("a")
    assert (desk.run.status, desk.run.completed_at) == (RunStatus.COMPLETED, desk.at)
    assert desk.told[-1] == "run_completed"
    assert desk.did(DeleteWorkspaces) == [DeleteWorkspaces((desk.e("a").id,))]


def test_a_start_that_needs_approval_asks_at_once() -> None:
    desk = Desk(plan_of("a", policies={"a": CheckpointPolicy(ask_start=True, digest="definition")}, auto_advance=False))
    assert desk.states == {"a": "START_ASKED"}
    assert desk.asked("a").digest == "definition"
    assert desk.last.effects == (CreateWorkspace(desk.e("a").id),)
    assert desk.e("a").started_at is None
    desk.answer("a", "approve")
    assert desk.states == {"a": "WORKING"}
    assert desk.e("a").start_approved


def test_a_refused_start_returns_to_pending_and_can_be_requested_again() -> None:
    desk = Desk(plan_of("a", policies={"a": CheckpointPolicy(ask_start=True)}))
    desk.answer("a", "refuse", feedback="not now")
    assert desk.states == {"a": "PENDING"}
    assert desk.told == ["approval_rejected", "execution_start_refused"]
    desk.send(StartExecution(desk.e("a").id))
    assert desk.states == {"a": "START_ASKED"}
    assert len(desk.run.approvals) == 2


def test_a_stage_runs_in_parallel_and_the_next_waits_for_all_of_it() -> None:
    desk = Desk(plan_of("a", ("b", "c"), "d"))
    desk.finish("a")
    assert desk.states == {"a": "COMPLETED", "b": "WORKING", "c": "WORKING"}
    desk.finish("c")
    assert desk.states == {"a": "COMPLETED", "b": "WORKING", "c": "COMPLETED"}
    desk.finish("b")
    assert desk.states == {"a": "COMPLETED", "b": "COMPLETED", "c": "COMPLETED", "d": "WORKING"}


def test_a_checkpoint_starts_as_soon_as_its_needs_are_complete() -> None:
    desk = Desk(plan_of(("a", "b"), "c", "d", needs={"d": ("b",)}))
    desk.finish("b")
    assert desk.states == {"a": "WORKING", "b": "COMPLETED", "d": "WORKING"}
    desk.finish("a")
    assert desk.states == {"a": "COMPLETED", "b": "COMPLETED", "d": "WORKING", "c": "WORKING"}


def test_needs_of_each_checkpoint() -> None:
    plan = plan_of(("a", "b"), "c", "d", needs={"d": ("b",)})
    assert plan.needed == {
        "a": frozenset(),
        "b": frozenset(),
        "c": frozenset({"a", "b"}),
        "d": frozenset({"b"}),
    }
    assert plan.stages == {"stage 0": ("a", "b"), "stage 1": ("c",), "stage 2": ("d",)}


def test_a_human_checkpoint_waits_for_its_form_and_then_goes_to_a_runner() -> None:
    desk = Desk(plan_of("a", policies={"a": CheckpointPolicy(mode=ExecutionMode.HUMAN_ONLY, digest="form")}))
    assert (desk.e("a").state, desk.e("a").waiting_on) == (ExecutionState.WAITING, WaitingOn.HUMAN_FORM)
    assert desk.asked("a").digest == "form"
    desk.answer("a", "answer", answer="checksum")
    assert (desk.states, desk.e("a").answer, desk.e("a").answered) == ({"a": "WORKING"}, "checksum", True)
    desk.finish("a")
    assert desk.run.status is RunStatus.COMPLETED


def test_the_dispatch_number_only_grows() -> None:
    desk = Desk(plan_of("a", policies={"a": CheckpointPolicy(ask_completion=True, max_auto_retries=1)}))
    numbers = [desk.e("a").dispatch]
    desk.fail("a")
    desk.due("a")
    numbers.append(desk.e("a").dispatch)
    desk.fail("a")
    desk.send(RetryExecution(desk.e("a").id, 2))
    numbers.append(desk.e("a").dispatch)
    desk.finish("a")
    desk.answer("a", "revise")
    numbers.append(desk.e("a").dispatch)
    assert numbers == [1, 2, 3, 4]


def test_a_run_keeps_its_graph_and_later_executions_take_the_newest_definition() -> None:
    desk = Desk(plan_of("a", "b", policies={"a": CheckpointPolicy(max_auto_retries=1)}))
    edited = replace(desk.run.plan, policies={key: CheckpointPolicy(max_auto_retries=5) for key in "ab"}, revision=2)
    desk.run = desk.run.changed(plan=edited)
    desk.fail("a")
    desk.due("a")
    assert (desk.e("a").definition, desk.e("a").policy.max_auto_retries) == (1, 1)
    desk.fail("a")
    assert desk.states == {"a": "FAILED"}
    desk.send(RetryExecution(desk.e("a").id, 2))
    assert (desk.e("a").definition, desk.e("a").policy.max_auto_retries) == (2, 5)
    desk.finish("a")
    assert (desk.e("b").definition, desk.e("b").policy.max_auto_retries) == (2, 5)


def test_ids_come_from_the_command_and_the_run() -> None:
    one, again = Desk(plan_of("a")), Desk(plan_of("a"))
    assert one.e("a").id == again.e("a").id
    other = Desk(plan_of("a"), started=False)
    other.run = other.run.changed(id="another run")
    other.send(StartRun())
    assert other.e("a").id != one.e("a").id


def test_an_execution_as_it_is_made() -> None:
    desk = Desk(plan_of("a", revision=7))
    e = desk.e("a")
    assert (e.key, e.position, e.pass_number, e.ordinal, e.definition) == ("a", 0, 1, 1, 7)
    assert (e.created_at, e.started_at, e.working_since) == (desk.at, desk.at, desk.at)
    assert desk.at > BEGIN


def test_a_run_without_checkpoints_is_complete_at_once() -> None:
    assert Desk(plan_of()).run.status is RunStatus.COMPLETED
