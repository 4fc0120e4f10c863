"""Read everything that a judgment of an action depends on, in its transaction."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from cairn.core.action import Action, History, LimitUse, Place
from cairn.core.action_judgment import Circumstances
from cairn.core.action_rules import ActionRules, ApprovingRule
from cairn.core.action_votes import Electorate
from cairn.core.rule_verdict import ProposedAction, RuleQuestion
from cairn.core.states import ApprovalKind
from cairn.services.identity.directory import load_people
from cairn.store import Connection, LoadedRun
from cairn.store.actions import gate_state, ledger, limits

DISTRUSTED_SANDBOX = "Rules approve no actions of scripts that run without a sandbox."


class ActionRuleSource(Protocol):
    """The active rules about actions, as a transaction sees them."""

    def judge_action(
        self,
        connection: Connection,
        loaded: LoadedRun,
        question: RuleQuestion,
        *,
        draw_key: str,
        path: Sequence[str] = (),
    ) -> ActionRules: ...


class InstallationKey:
    """Keyed digests that only this installation can make."""

    def __init__(self) -> None:
        self._key = b""

    def set_key(self, key: str) -> None:
        self._key = key.encode()

    def digest(self, *parts: str | bytes) -> str:
        if not self._key:
            raise RuntimeError("The key of the installation is not loaded: start the gate first.")
        message = b"\0".join(part.encode() if isinstance(part, str) else part for part in parts)
        return hmac.new(self._key, message, hashlib.sha256).hexdigest()

    def idempotency_key(self, action: Action) -> str:
        """The same for every attempt at one occurrence of an action, and different for the next occurrence."""
        return self.digest(
            "idempotency", action.place.family, action.operation, action.identity, str(action.occurrence or 1)
        )[:40]


@dataclass(frozen=True, slots=True)
class ActionView:
    """What rules read about an action."""

    parameters: Mapping[str, Any]
    facts: Mapping[str, Any]
    confidence: float | None = None
    currency: str | None = None


class CircumstancesReader:
    def __init__(self, rules: ActionRuleSource, key: InstallationKey, *, trusts_plain_processes: bool) -> None:
        self._rules = rules
        self._key = key
        self._trusts_plain_processes = trusts_plain_processes

    def read(
        self, connection: Connection, loaded: LoadedRun, action: Action, view: ActionView, at: datetime
    ) -> Circumstances:
        e = loaded.run.executions[action.execution]
        proposed = ProposedAction(action.operation, view.parameters, action.risk, view.confidence, view.facts)
        question = RuleQuestion(
            ApprovalKind.ACTION, action.id, action.execution, e.key, at, proposed, loaded.run.index.done
        )
        rules = self._rules.judge_action(
            connection,
            loaded,
            question,
            draw_key=self._key.digest("draw", *action.place, action.operation),
        )
        return Circumstances(
            self.history(connection, loaded, action),
            rules,
            gate_state.read_status(connection, lock=True),
            lambda rule: _limit_problem(connection, rule, action, view.currency, at),
            self._distrust(connection, action, view),
        )

    def history(self, connection: Connection, loaded: LoadedRun | None, action: Action) -> History:
        e = loaded.run.executions.get(action.execution) if loaded is not None else None
        return ledger.load_history(connection, action, e.revision if e is not None else 0)

    def _distrust(self, connection: Connection, action: Action, view: ActionView) -> str:
        """Why no rule may approve the action, whatever it says."""
        if view.facts.get("type", {}).get("source") == "undeclared":
            return f"The action type {action.operation} is not in the catalogue, and the pipeline doesn't declare it."
        if not action.by_script or self._trusts_plain_processes:
            return ""
        return DISTRUSTED_SANDBOX if ledger.sandbox_of(connection, action.execution) == "process" else ""


def limit_use(rule: ApprovingRule, action: Action, currency: str | None, at: datetime) -> LimitUse | None:
    """What an approval by the rule takes from its limit."""
    if rule.limit is None or rule.limit_use is None:
        return None
    amount = rule.limit_use.amount if rule.limit.sum_lookup is not None else None
    return LimitUse(rule.rule_id, _window(rule, action.place, action.run, at), amount, currency if amount else None)


def _window(rule: ApprovingRule, place: Place, run: str, at: datetime) -> str:
    limit, use = rule.limit, rule.limit_use
    assert limit is not None and use is not None
    match limit.per:
        case "run":
            return f"run {run}"
        case "family":
            return f"family {place.family}"
        case "hour":
            return f"hour {at:%Y-%m-%dT%H}"
        case "day":
            return f"day {at:%Y-%m-%d}"
        case field:
            return f"{field} {use.group}"


def _limit_problem(
    connection: Connection, rule: ApprovingRule, action: Action, currency: str | None, at: datetime
) -> str:
    """Why the limit of the rule does not allow another approval, or an empty string. Locks its window."""
    limit = rule.limit
    if limit is None:
        return ""
    use = limit_use(rule, action, currency, at)
    if use is None:
        return f"The limit of the rule {rule.rule} can't be checked, because a value is missing or not a number."
    totals = limits.lock_window(connection, use.rule, use.window)
    own = action.limit_use if action.limit_use and action.limit_use.window == use.window else None
    own = own if own is not None and own.rule == use.rule else None
    approvals = totals.approvals - (own is not None)
    total = totals.total - ((own.amount or 0) if own is not None else 0)
    if limit.count is not None and approvals + 1 > limit.count:
        return f"The limit of the rule {rule.rule} is reached: {approvals} of {limit.count} approvals are used."
    if use.amount is not None and limit.sum_max is not None:
        if totals.currency not in (None, use.currency) and approvals:
            return f"The limit of the rule {rule.rule} adds up amounts in {totals.currency} only."
        if total + use.amount > limit.sum_max:
            return f"The limit of the rule {rule.rule} would be exceeded: {total} of {limit.sum_max} are used."
    return ""


def read_electorate(connection: Connection, family: str, at: datetime) -> Electorate:
    """Who can vote. The starter is the person who started the first run of the family."""
    return Electorate(load_people(connection, at), ledger.starter_of(connection, family))
