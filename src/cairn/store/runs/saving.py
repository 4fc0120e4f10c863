"""Save the changes of a decision in as few statements as possible."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any
from uuid import NAMESPACE_OID, uuid5

import sqlalchemy as sa

from cairn.core.approval import Approval
from cairn.core.commands import CommandContext
from cairn.core.decide import Decision
from cairn.core.events import EventType
from cairn.core.execution import Execution
from cairn.core.run import Run
from cairn.store.errors import LostRace, StaleDispatch
from cairn.store.events import chain as chains
from cairn.store.events.chain import EventRecord
from cairn.store.prepared_statements import PreparedUpdate, insert_into
from cairn.store.runs.approval_rows import approval_values, evaluated_rules_value
from cairn.store.runs.artifacts import NewArtifact, put_contents, save_artifacts
from cairn.store.runs.loading import LoadedRun, insert_row
from cairn.store.runs.run_rows import Values, execution_values
from cairn.store.tables import approval_decisions, approvals, checkpoint_executions, pipeline_runs


def save_run(
    connection: sa.Connection,
    before: LoadedRun,
    decision: Decision,
    context: CommandContext,
    *,
    drivers: Mapping[str, str] | None = None,
    artifacts: Sequence[NewArtifact] = (),
    promoted: Mapping[str, str] | None = None,
    events: Sequence[EventRecord] = (),
    synced_revision: int | None = None,
) -> LoadedRun:
    """Save the changes of the decision.

    `drivers` maps executions to the jobs that now drive them, `promoted` maps artifacts to their new paths, `events`
    follow those of the decision, and `synced_revision` is the revision up to which the files are synced.
    """
    chain, rows = chains.seal(
        before.chain, [*before.unsaved_events, *_event_records(before, decision), *events], context.by, context.at
    )
    after = LoadedRun(
        run=decision.run,
        facts=before.facts,
        revision=before.revision + 1,
        event_seq=chain.seq,
        event_head=chain.head,
        drivers={**before.drivers, **(drivers or {})},
        synced_revision=before.synced_revision if synced_revision is None else synced_revision,
        places=before.places,
        folders=_folders(before, decision.run),
        layout=before.layout,
    )
    _save_row(connection, before, after)
    put_contents(connection, artifacts, context)
    _save_executions(connection, before, after, context)
    _save_approvals(connection, before, after)
    save_artifacts(connection, before, after, artifacts, promoted or {}, context)
    chains.insert(connection, rows)
    return after


def save_events(
    connection: sa.Connection, run: LoadedRun, events: Sequence[EventRecord], context: CommandContext
) -> LoadedRun:
    """Append events to a run that this transaction has saved."""
    chain, rows = chains.seal(run.chain, events, context.by, context.at)
    chains.insert(connection, rows)
    r = pipeline_runs
    connection.execute(
        sa.update(r).where(r.c.run_id == run.facts.run_id).values(event_seq=chain.seq, event_head=chain.head)
    )
    return replace(run, event_seq=chain.seq, event_head=chain.head)


def _folders(before: LoadedRun, run: Run) -> Mapping[str, str]:
    new = {e.id: before.places[e.key].folder for e in run.executions.values() if e.id not in before.folders}
    return {**before.folders, **new} if new else before.folders


# The run
_UPDATE_RUN = PreparedUpdate(pipeline_runs, "run_id", "revision")


def _save_row(connection: sa.Connection, before: LoadedRun, after: LoadedRun) -> None:
    """Save the run's row. It comes first, so that a lost race writes nothing and PostgreSQL locks rows in one order."""
    if not before.is_stored:
        insert_row(connection, after)
        return
    changes = _changed(before.row_values, after.row_values)
    expected = {"run_id": before.facts.run_id, "revision": before.revision}
    if _UPDATE_RUN.run(connection, changes, expected) != 1:
        raise LostRace("The run was changed by another transaction.")


def _changed(before: Values, after: Values) -> Values:
    return {name: value for name, value in after.items() if value != before[name]}


# Executions
_INSERT_EXECUTION = insert_into(checkpoint_executions, without=("context_checksum", "progress", "sandbox"))
_UPDATE_EXECUTION = PreparedUpdate(checkpoint_executions, "execution_id", "dispatch_number", "state")


def _save_executions(connection: sa.Connection, before: LoadedRun, after: LoadedRun, context: CommandContext) -> None:
    new: list[Values] = []
    for execution_id, e in after.run.executions.items():
        previous = before.run.executions.get(execution_id)
        if previous is None:
            new.append(_new_execution(after, e, context))
        elif previous is not e or before.drivers.get(execution_id) != after.drivers.get(execution_id):
            _update_execution(connection, before, after, execution_id, context)
    if new:
        _INSERT_EXECUTION.run_many(connection, new)


def _new_execution(after: LoadedRun, e: Execution, context: CommandContext) -> Values:
    place = after.places[e.key]
    return {
        **execution_values(e),
        "execution_id": e.id,
        "run_id": after.facts.run_id,
        "checkpoint_id": place.checkpoint_id,
        "checkpoint_name": place.name,
        "folder": place.folder,
        "driver": after.drivers.get(e.id),
        "last_error_at": context.at if e.last_error else None,
        "temp_workspace_path": after.layout.workspace_folder(e.id),
        "permanent_output_path": f"{after.run_folder}/{place.folder}",
    }


def _update_execution(
    connection: sa.Connection, before: LoadedRun, after: LoadedRun, id: str, context: CommandContext
) -> None:
    previous, e = before.run.executions[id], after.run.executions[id]
    changes = _changed(execution_values(previous), execution_values(e))
    if before.drivers.get(id) != after.drivers.get(id):
        changes["driver"] = after.drivers.get(id)
    if e.last_error is not None and (e.errors != previous.errors or e.last_error != previous.last_error):
        changes["last_error_at"] = context.at
    if not changes:
        return
    fence = {"execution_id": id, "dispatch_number": previous.dispatch, "state": str(previous.state)}
    if _UPDATE_EXECUTION.run(connection, changes, fence) != 1:
        raise StaleDispatch(f"Dispatch {previous.dispatch} of execution {id} is over.")


# Approvals
_INSERT_APPROVAL = insert_into(approvals)
_UPDATE_APPROVAL = PreparedUpdate(approvals, "approval_id")
_INSERT_DECISION = insert_into(approval_decisions)


def _save_approvals(connection: sa.Connection, before: LoadedRun, after: LoadedRun) -> None:
    for ordinal, a in enumerate(after.run.approvals.values()):
        previous = before.run.approvals.get(a.id)
        if previous is a:
            continue
        if previous is None:
            _INSERT_APPROVAL.run(connection, _new_approval(after, a, ordinal))
        elif changes := _changed(approval_values(previous), approval_values(a)):
            _UPDATE_APPROVAL.run(connection, changes, {"approval_id": a.id})
        saved_votes = len(previous.votes) if previous else 0
        for position, vote in enumerate(a.votes[saved_votes:], saved_votes):
            _INSERT_DECISION.run(
                connection,
                {
                    "decision_id": str(uuid5(NAMESPACE_OID, f"{a.id}/{position}")),
                    "approval_id": a.id,
                    "position": position,
                    "by": vote.by,
                    "at": vote.at,
                    "decision": vote.decision,
                    "feedback": vote.feedback,
                    "digest": vote.digest,
                    "answer_checksum": vote.answer,
                },
            )


def _new_approval(after: LoadedRun, a: Approval, ordinal: int) -> Values:
    waiting_on = after.run.executions[a.execution].waiting_on
    return {
        **approval_values(a),
        "approval_id": a.id,
        "run_id": after.facts.run_id,
        "execution_id": a.execution,
        "pipeline_id": after.facts.pipeline_id,
        "ordinal": ordinal,
        "kind": a.kind.value,
        "waiting_on": waiting_on.value if waiting_on else None,
        "requested_at": a.requested_at,
        "evaluated_rules": evaluated_rules_value(a),
    }


# Events
def _event_records(before: LoadedRun, decision: Decision) -> list[EventRecord]:
    executions, places = decision.run.executions, before.places
    records: list[EventRecord] = []
    for event in decision.events:
        key: Any = executions[event.execution].key if event.execution else event.detail.get("checkpoint")
        if event.type is EventType.REWORK_REQUESTED:
            key = event.detail["checkpoint"]  # the target of the rework; `execution` is the requester
        place = places.get(key)
        records.append(
            EventRecord(
                str(event.type),
                event.detail,
                event.execution,
                place.checkpoint_id if place else None,
                event.approval,
                event.rollback,
                place.name if place else None,
            )
        )
    return records
