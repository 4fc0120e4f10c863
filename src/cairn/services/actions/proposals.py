"""Proposed actions: look for an outcome to give again, judge the action and save it, in one transaction."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from cairn.core.action import BY_DEFAULT, BY_RULE, Action, Place
from cairn.core.action_judgment import Circumstances, Judgment, judge
from cairn.core.action_transitions import ActionTransition, move
from cairn.core.action_votes import with_requirements
from cairn.core.commands import ActionProposed, ActionRequest, ArtifactOutput, CommandContext
from cairn.core.execution import Execution
from cairn.core.ids import id_of
from cairn.core.rule_verdict import RiskLevel
from cairn.core.states import ActionEffect, ActionState, ExecutionMode
from cairn.documents import digest
from cairn.ports import ProposesAction
from cairn.services.actions import approval_requests, event_records
from cairn.services.actions.action_type import ActionType
from cairn.services.actions.circumstances import ActionView, CircumstancesReader, InstallationKey, limit_use
from cairn.services.actions.resolving import ActionRefusal, ResolvedAction
from cairn.services.engine.commit import Attachments, Commit, Write
from cairn.store import Connection, LoadedRun, NewArtifact, scripts
from cairn.store.actions import ledger

APPROVAL_HOURS = 24  # an approval of an action expires after this time
MAX_WAITING_AT_CHECKPOINT, MAX_WAITING_IN_RUN = 10, 50  # further actions wait until people have decided on these
MAX_REFUSALS = 3  # of an operation at one place, until a person retries the work
REPLAYED = frozenset({ActionState.DONE, ActionState.REUSED, ActionState.UNKNOWN})


@dataclass(frozen=True, slots=True)
class ResultSoFar:
    """What the execution has staged when it proposes."""

    digest: str | None = None
    outputs: tuple[ArtifactOutput, ...] = ()
    artifacts: tuple[NewArtifact, ...] = ()


@dataclass(frozen=True, slots=True)
class Judged:
    """A new action after its first judgment."""

    action: Action
    judgment: Judgment = Judgment()
    circumstances: Circumstances | None = None


class ActionProposals:
    def __init__(self, reader: CircumstancesReader, key: InstallationKey) -> None:
        self._reader = reader
        self._key = key

    def source(
        self,
        execution: Execution,
        proposed: ProposesAction,
        resolved: ResolvedAction | ActionRefusal,
        result: ResultSoFar,
        writes: tuple[Write, ...],
    ) -> ProposalSource:
        return ProposalSource(self, execution.id, execution.dispatch, proposed, resolved, result, writes)

    def judge(
        self, connection: Connection, loaded: LoadedRun, action: Action, view: ActionView, at: datetime
    ) -> Judged:
        """The first judgment of an action that may be carried out."""
        refusals = ledger.refusals_here(connection, action.place, action.operation)
        if refusals >= MAX_REFUSALS:
            reason = f"People have refused this operation {refusals} times here. A person has to retry the work first."
            return Judged(move(action, ActionTransition.BLOCK, reason=reason))
        c = self._reader.read(connection, loaded, action, view, at)
        if (reused := self._reusable(loaded, action, c)) is not None:
            return Judged(
                move(action, ActionTransition.REUSE, reused_of=reused.id, result=reused.result), circumstances=c
            )
        judgment = judge(action, c)
        if judgment.is_held:
            return Judged(action.replace(reason=judgment.reason), judgment, c)
        if judgment.is_approved:
            return Judged(approve(action, judgment, c, view, at), judgment, c)
        if reason := _why_later(connection, action):
            return Judged(action.replace(reason=reason), Judgment(is_held=True, reason=reason), c)
        asked = with_requirements(move(action, ActionTransition.ASK, reason=judgment.reason), c.rules.asking)
        return Judged(asked, judgment, c)

    def outcome_request(self, connection: Connection, loaded: LoadedRun, action: Action) -> ActionRequest:
        """The question whether an action happened."""
        history = self._reader.history(connection, loaded, action)
        return approval_requests.outcome_request(action, history, action.reason)

    def _reusable(self, loaded: LoadedRun, action: Action, c: Circumstances) -> Action | None:
        """The earlier result to use without asking people, if the checkpoint says so."""
        e = loaded.run.executions[action.execution]
        if not e.policy.reuses_earlier_actions or action.effect is not ActionEffect.CHANGES:
            return None
        equal = c.history.equal(action)
        same = [a for a in equal if a.place == action.place and a.content_digest == action.content_digest]
        is_settled = all(a.state is ActionState.DONE for a in equal)
        return same[-1] if same and is_settled else None

    # A new action
    def new_action(
        self, connection: Connection, loaded: LoadedRun, e: Execution, source: ProposalSource, context: CommandContext
    ) -> Action:
        resolved, proposed = source.resolved, source.proposed
        place = Place(loaded.facts.family, loaded.places[e.key].checkpoint_id)
        common: dict[str, Any] = {
            "id": id_of(context.command_id, f"action/{e.id}/{e.dispatch}"),
            "place": place,
            "run": loaded.facts.run_id,
            "execution": e.id,
            "operation": proposed.operation_type,
            "proposed_at": context.at,
            "generation": ledger.generation(connection, place),
            "by_script": e.policy.mode in (ExecutionMode.SCRIPT, ExecutionMode.FUNCTION),
        }
        if isinstance(resolved, ActionRefusal):
            return Action(
                **common,
                effect=ActionEffect.CHANGES,
                risk=RiskLevel.HIGH,
                identity=self._key.digest("identity", source.call_digest),
                content_digest=source.call_digest,
                call_digest=source.call_digest,
            )
        stated = RiskLevel(proposed.risk_level) if proposed.risk_level in set(RiskLevel) else RiskLevel.LOW
        return Action(
            **common,
            effect=resolved.type.effect,
            risk=max(resolved.type.risk, stated, key=lambda risk: risk.rank),
            identity=self._key.digest("identity", resolved.identity),
            content_digest=resolved.content_digest,
            call_digest=resolved.call_digest,
            untrusted=bool(resolved.facts.get("untrusted")),
            is_handed_over=resolved.type.executor == "proposer",
            is_idempotent=resolved.type.is_idempotent,
        )


@dataclass(frozen=True, slots=True)
class ProposalSource:
    """Builds the report of a proposal from what its transaction sees."""

    proposals: ActionProposals
    execution: str
    dispatch: int
    proposed: ProposesAction
    resolved: ResolvedAction | ActionRefusal
    result: ResultSoFar
    writes: tuple[Write, ...]

    @property
    def call_digest(self) -> str:
        if isinstance(self.resolved, ResolvedAction):
            return self.resolved.call_digest
        return digest({"operation": self.proposed.operation_type, "parameters": dict(self.proposed.parameters)})

    def __call__(
        self, connection: Connection, before: LoadedRun, context: CommandContext, /
    ) -> tuple[ActionProposed, Attachments]:
        e = before.run.executions[self.execution]
        ledger.lock_family(connection, before.facts.family)
        action = self.proposals.new_action(connection, before, e, self, context)
        if (earlier := _outcome_to_repeat(connection, action, e)) is not None:
            return self._report(earlier.state), Attachments(
                self.result.artifacts, (*self.writes, self._link(earlier.id))
            )
        judged = self._judge(connection, before, action, context.at)
        request = request_of(judged, self.proposed.confidence)
        reason = judged.action.reason
        events = (event_records.state_event(action), *_state_events(judged.action))
        save = ProposalWrite(judged.action, self._details(before))
        attachments = Attachments(self.result.artifacts, (*self.writes, save, self._link(action.id)), events)
        return self._report(judged.action.state, request, reason), attachments

    def _judge(self, connection: Connection, loaded: LoadedRun, action: Action, at: datetime) -> Judged:
        if isinstance(self.resolved, ActionRefusal):
            reason = "; ".join(f"{path}: {message}" if path else message for path, message in self.resolved.errors)
            return Judged(move(action, ActionTransition.BLOCK, reason=reason))
        if loaded.facts.is_test:
            return Judged(move(action, ActionTransition.MARK_TEST, result={"test": True}))
        return self.proposals.judge(connection, loaded, action, self.view, at)

    @property
    def view(self) -> ActionView:
        assert not isinstance(self.resolved, ActionRefusal)
        resolved = self.resolved
        return ActionView(resolved.content, resolved.facts, self.proposed.confidence, resolved.currency)

    def _report(self, state: ActionState, request: ActionRequest | None = None, reason: str = "") -> ActionProposed:
        return ActionProposed(
            self.execution, self.dispatch, state, request, reason, self.result.digest, self.result.outputs
        )

    def _link(self, action_id: str) -> CallLink:
        number = self.proposed.call.number if self.proposed.call is not None else None
        return CallLink(self.execution, number, action_id)

    def _details(self, loaded: LoadedRun) -> Mapping[str, Any]:
        proposed, resolved = self.proposed, self.resolved
        is_resolved = not isinstance(resolved, ActionRefusal)
        return {
            "pipeline_id": loaded.facts.pipeline_id,
            "currency": resolved.currency if is_resolved else None,
            "summary": resolved.summary if is_resolved else proposed.operation_type,
            "parameters": dict(proposed.parameters),
            "content": resolved.content if is_resolved else None,
            "facts": dict(resolved.facts) if is_resolved else None,
            "sources": [],
            "reasoning": proposed.reasoning,
            "confidence": proposed.confidence,
            "proposed_risk_level": proposed.risk_level if proposed.risk_level in set(RiskLevel) else None,
            "risk_reasons": _risk_reasons(resolved.type, proposed.risk_level) if is_resolved else [],
            "supporting_data": proposed.supporting_data,
        }


@dataclass(frozen=True, slots=True)
class ProposalWrite:
    """Save a proposed action with the report that proposes it."""

    action: Action
    details: Mapping[str, Any]

    def __call__(self, connection: Connection, commit: Commit, /) -> None:
        ledger.insert_action(connection, self.action, self.details)
        e = commit.before.run.executions[self.action.execution]
        ledger.insert_version(connection, self.action, self.details["parameters"], e.key, commit.context.at)


@dataclass(frozen=True, slots=True)
class CallLink:
    """Link the recorded call to its action."""

    execution: str
    number: int | None
    action_id: str

    def __call__(self, connection: Connection, commit: Commit, /) -> None:
        if self.number is not None:
            e = commit.before.run.executions[self.execution]
            scripts.link_call(connection, e.id, e.revision, self.number, self.action_id)


def request_of(judged: Judged, confidence: float | None) -> ActionRequest | None:
    """The approval that people or a rule give, if there is one."""
    if judged.circumstances is None or judged.action.state not in (ActionState.WAITING, ActionState.APPROVED):
        return None
    return approval_requests.approval_request(judged.action, judged.judgment, judged.circumstances, confidence)


def approve(action: Action, judgment: Judgment, c: Circumstances, view: ActionView, at: datetime) -> Action:
    """Approve by a rule, or because the risk is low."""
    rule = judgment.rule
    return move(
        action,
        ActionTransition.ALLOW,
        reason=judgment.reason,
        approved_by=BY_DEFAULT if rule is None else f"{BY_RULE}{rule.rule_id}",
        approved_until=at + timedelta(hours=APPROVAL_HOURS),
        occurrence=c.history.next_occurrence(action),
        limit_use=None if rule is None else limit_use(rule, action, view.currency, at),
    )


def _outcome_to_repeat(connection: Connection, action: Action, e: Execution) -> Action | None:
    """An outcome that this execution got in an earlier generation, for an equal call.

    An outcome is given again once in each generation, in the order of the actions. Agents have the results of their
    conversation.
    """
    if not action.by_script or action.generation == 0:
        return None
    given = ledger.actions_of_calls(connection, e.id, e.revision)
    for earlier in ledger.actions_of_execution(connection, e.id):
        is_open = earlier.state is not ActionState.UNKNOWN or not earlier.settled
        is_equal = earlier.call_digest == action.call_digest and earlier.generation < action.generation
        if is_equal and is_open and earlier.state in REPLAYED and earlier.id not in given:
            return earlier
    return None


def _risk_reasons(action: ActionType, stated: str | None) -> list[str]:
    source = {
        "undeclared": f"{action.name} is not in the catalogue, and the pipeline doesn't declare it",
        "pipeline": f"The pipeline declares {action.name}",
        "tool": f"{action.name} is a tool",
    }.get(action.source, f"The catalogue has {action.name}")
    reasons = [f"{source}: {action.risk.value} risk."]
    if stated is not None:
        reasons.append(f"The proposer rated this as {stated} risk.")
    return reasons


def _why_later(connection: Connection, action: Action) -> str:
    at_place, in_run = ledger.waiting_counts(connection, action)
    if at_place >= MAX_WAITING_AT_CHECKPOINT:
        return f"{at_place} actions of this checkpoint are waiting for people. Decide on them first."
    if in_run >= MAX_WAITING_IN_RUN:
        return f"{in_run} actions of this run are waiting for people. Decide on them first."
    return ""


def _state_events(action: Action) -> tuple[Any, ...]:
    return () if action.state is ActionState.PROPOSED else (event_records.state_event(action),)
