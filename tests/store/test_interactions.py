"""The `human_interactions` view: decisions of people on an execution."""

from __future__ import annotations

import sqlalchemy as sa

from cairn.core.commands import Decide, ExecutionFinished, StartRun
from cairn.core.plan import CheckpointPolicy
from cairn.core.states import ExecutionMode
from cairn.store import Database, blobs
from tests.store.samples import SamplePlans, create_run, make_document


def test_decisions_appear_as_interactions(database: Database) -> None:
    plans = SamplePlans(
        {
            "a": CheckpointPolicy(
                mode=ExecutionMode.HUMAN_ONLY, requires_start_approval=True, requires_completion_approval=True
            )
        }
    )
    harness = create_run(database, make_document("a"), plans)
    harness.send(StartRun())

    def decide(decision: str, **given: str) -> None:
        approval = harness.loaded.run.pending[0]
        harness.send(Decide(approval.id, decision, **given), by="bob")

    def finish() -> None:
        e = next(iter(harness.loaded.run.open))
        harness.send(ExecutionFinished(e.id, e.dispatch, "digest"))

    answer = database.transact_now(lambda c: blobs.put(c, b"{}"))
    decide("approve", feedback="go")
    decide("answer", answer=answer)
    finish()
    decide("revise", feedback="shorter")
    decide("answer", answer=answer)
    finish()
    decide("approve")
    query = sa.text(
        "SELECT type, user_input, system_response, actor, answer_checksum FROM human_interactions ORDER BY timestamp"
    )
    assert database.read(lambda c: [tuple(row) for row in c.execute(query)]) == [
        ("approval_to_start", "go", "approve", "bob", None),
        ("human_form", "", "answer", "bob", answer),
        ("revision_request", "shorter", "revise", "bob", None),
        ("human_form", "", "answer", "bob", answer),
        ("approval_to_complete", "", "approve", "bob", None),
    ]
    e = next(iter(harness.loaded.run.executions))
    ids = sa.text("SELECT count(DISTINCT interaction_id), min(execution_id) FROM human_interactions")
    assert database.read(lambda c: tuple(c.execute(ids).one())) == (5, e)
