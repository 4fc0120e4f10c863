"""Read actions for people: the ledger as a list, and one action with its history."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from cairn.core.action import Action
from cairn.core.action import ActionVote as Vote
from cairn.core.action_judgment import STOP_ACTIONS
from cairn.core.rule_verdict import RiskLevel
from cairn.core.states import EXECUTED, ActionEffect, ActionState
from cairn.services.actions import queries
from cairn.services.actions.catalogue import Catalogue
from cairn.services.actions.decisions import REVOKE, SETTLEMENTS
from cairn.services.actions.journal import MERGED
from cairn.services.actions.views import (
    ActionDetail,
    ActionGate,
    ActionPage,
    ActionSummary,
    ActionVote,
    ProposedAction,
)
from cairn.services.engine.engine import Engine
from cairn.services.engine.plans import DefinitionCache
from cairn.services.paging import SortOrder, page
from cairn.store import Connection, LoadedRun
from cairn.store import tables as t
from cairn.store.actions import gate_state, ledger
from cairn.store.runs.loading import load_run
from cairn.store.runs.run_rows import Row

A = t.actions.c
_NEWEST = SortOrder((A.proposed_at, A.action_id), newest_first=True)
MAX_LISTED = 500  # actions to review after a restore
_ALLOWED = frozenset(
    {ActionState.APPROVED, ActionState.STARTED, ActionState.HANDED_OVER, ActionState.DONE, ActionState.UNKNOWN}
)


@dataclass(frozen=True, slots=True)
class ActionFilter:
    states: Collection[ActionState] = ()
    operation_type: str | None = None
    run_id: str | None = None
    family_of: str | None = None  # a run; its actions and those of the runs that it retries
    pipeline_id: str | None = None
    unsettled: bool = False  # unknown outcomes that are open questions
    state_reason: str | None = None


def list_actions(connection: Connection, wanted: ActionFilter, limit: int, cursor: str | None) -> ActionPage:
    query = sa.select(t.actions)
    if wanted.states:
        query = query.where(A.state.in_([state.value for state in wanted.states]))
    if wanted.operation_type is not None:
        query = query.where(A.operation == wanted.operation_type)
    if wanted.run_id is not None:
        query = query.where(A.run_id == wanted.run_id)
    if wanted.family_of is not None:
        query = query.where(A.family_id == ledger.family_of(connection, wanted.family_of))
    if wanted.pipeline_id is not None:
        query = query.where(A.pipeline_id == wanted.pipeline_id)
    if wanted.unsettled:
        query = query.where(A.state == ActionState.UNKNOWN.value, A.settled.is_(False))
    if wanted.state_reason is not None:
        query = query.where(A.reason == wanted.state_reason)
    found = page(connection, query, _NEWEST, limit, cursor)
    return ActionPage(items=[summary_view(row) for row in found.rows], next_cursor=found.next_cursor)


def summary_view(row: Row) -> ActionSummary:
    return ActionSummary(
        action_id=row.action_id,
        operation_type=row.operation,
        summary=row.summary,
        state=ActionState(row.state),
        state_reason=row.reason,
        effect=ActionEffect(row.effect),
        risk_level=RiskLevel(row.risk_level),
        run_id=row.run_id,
        pipeline_id=row.pipeline_id,
        execution_id=row.execution_id,
        approval_id=row.approval_id,
        approved_by=row.approved_by,
        settled=row.settled,
        modified=row.modified,
        result=row.result,
        proposed_at=row.proposed_at,
        started_at=row.started_at,
        ended_at=row.ended_at,
    )


@dataclass(frozen=True, slots=True)
class ActionViews:
    """Builds the views of single actions. `loaded` is None if a restored database lacks the run."""

    plans: DefinitionCache
    catalogue: Catalogue

    def proposed(self, connection: Connection, loaded: LoadedRun | None, action_id: str) -> ProposedAction:
        return ProposedAction(**self._fields(connection, loaded, queries.action_row(connection, action_id)))

    def detail(self, connection: Connection, loaded: LoadedRun | None, action_id: str) -> ActionDetail:
        row, action = queries.action_row(connection, action_id), ledger.load_action(connection, action_id)
        history = ledger.load_history(connection, action, _revision(loaded, action))
        return ActionDetail(
            **self._fields(connection, loaded, row),
            run_id=action.run,
            pipeline_id=row.pipeline_id,
            checkpoint_id=action.place.checkpoint,
            execution_id=action.execution,
            approval_id=row.approval_id,
            proposed_at=action.proposed_at,
            modified=action.modified,
            settled=action.settled,
            resend_permitted=action.resend_permitted,
            digest=history.shown_digest(action),
            votes=[_vote_view(vote) for vote in action.votes],
            available_commands=list(_commands(action)),
        )

    def _fields(self, connection: Connection, loaded: LoadedRun | None, row: Row) -> dict[str, Any]:
        action = ledger.load_action(connection, row.action_id)
        current = queries.current_parameters(connection, action.id)
        history = ledger.load_history(connection, action, _revision(loaded, action))
        return {
            "action_id": action.id,
            "operation_type": action.operation,
            "state": action.state,
            "state_reason": action.reason,
            "effect": action.effect,
            "summary": row.summary,
            "version": action.version,
            "parameters": row.parameters or {},
            "current_parameters": current,
            "approved_parameters": current if action.state in _ALLOWED else None,
            "parameters_schema": self._schema(connection, row),
            "request": row.content or {},
            "facts": row.facts or {},
            "untrusted": action.untrusted,
            "repeats": summaries(connection, [a.id for a in history.repeats(action)]),
            "approved_by": action.approved_by,
            "approved_until": action.approved_until,
            "occurrence": action.occurrence,
            "reused_from": action.reused_of,
            "reported_by": action.reported_by,
            "reasoning": row.reasoning,
            "confidence": row.confidence,
            "risk_level": action.risk,
            "proposed_risk_level": RiskLevel(row.proposed_risk_level) if row.proposed_risk_level else None,
            "risk_reasons": row.risk_reasons,
            "supporting_data": row.supporting_data,
            "executed_by_cairn": not action.is_handed_over,
            "result": action.result,
            "started_at": row.started_at,
            "ended_at": row.ended_at,
        }

    def _schema(self, connection: Connection, row: Row) -> Any:
        if row.definition_revision is None:
            return None
        definition = self.plans.definition(connection, row.pipeline_id, row.definition_revision)
        return self.catalogue.find(connection, definition, row.operation).offered_schema


def _commands(action: Action) -> Iterable[str]:
    if action.is_open:
        return (REVOKE,)
    return SETTLEMENTS if action.is_unsettled and not action.resend_permitted else ()


def _vote_view(vote: Vote) -> ActionVote:
    return ActionVote(
        by=vote.actor,
        at=vote.at,
        choice=vote.choice,
        on_repeat=vote.on_repeat,
        version=vote.version,
        digest=vote.shown_digest,
    )


def shown_digest(connection: Connection, loaded: LoadedRun | None, action_id: str) -> str:
    """The digest of what people see now: the content, and the earlier actions that it repeats."""
    action = ledger.load_action(connection, action_id)
    return ledger.load_history(connection, action, _revision(loaded, action)).shown_digest(action)


def _revision(loaded: LoadedRun | None, action: Action) -> int:
    e = loaded.run.executions.get(action.execution) if loaded is not None else None
    return e.revision if e is not None else 0


def summaries(connection: Connection, action_ids: Collection[str]) -> list[ActionSummary]:
    if not action_ids:
        return []
    rows = connection.execute(
        sa.select(t.actions).where(A.action_id.in_(list(action_ids))).order_by(A.proposed_at, A.action_id)
    )
    return [summary_view(row) for row in rows]


class ActionQueries:
    def __init__(self, engine: Engine, catalogue: Catalogue) -> None:
        self._engine = engine
        self.views = ActionViews(engine.plans, catalogue)

    def list_actions(self, wanted: ActionFilter, limit: int, cursor: str | None) -> ActionPage:
        return self._engine.database.read(lambda c: list_actions(c, wanted, limit, cursor))

    def executed(self, run_id: str, limit: int, cursor: str | None) -> ActionPage:
        """What the run and the runs that it retries have executed, or may have."""
        return self.list_actions(ActionFilter(EXECUTED, family_of=run_id), limit, cursor)

    def get_action(self, action_id: str) -> ActionDetail:
        def read(connection: Connection) -> ActionDetail:
            run_id = ledger.load_action(connection, action_id).run
            loaded = load_run(connection, run_id, self._engine.plans)
            return self.views.detail(connection, loaded, action_id)

        return self._engine.database.read(read)

    def get_gate(self) -> ActionGate:
        return self._engine.database.read(gate_view)


def gate_view(connection: Connection) -> ActionGate:
    status, change = gate_state.read_status(connection), gate_state.last_change(connection)
    unknown = ActionFilter((ActionState.UNKNOWN,), unsettled=True, state_reason=MERGED)
    return ActionGate(
        held=status.held,
        stopped=status.stop == STOP_ACTIONS,
        reason=status.explanation,
        changed_at=change.at,
        changed_by=change.by,
        unknown=list_actions(connection, unknown, MAX_LISTED, None).items,
    )
