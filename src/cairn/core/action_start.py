"""The check in the transaction that starts an action: what was approved may no longer hold."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

from cairn.core.action import BY_OVERRIDE, BY_PEOPLE, Action
from cairn.core.action_judgment import Circumstances, judge
from cairn.core.action_votes import APPROVE, SEND_AGAIN, Electorate, is_agreed, valid_votes, with_requirements
from cairn.core.states import ActionState

CHANGED = "The rules, the approvers or the earlier actions have changed."


class StartVerdict(StrEnum):
    START = "start"
    HOLD = "hold"  # the approval stays valid; the start is tried again later
    ASK = "ask"  # people decide again; valid votes stay
    ASK_AFRESH = "ask_afresh"  # people decide again without the earlier votes
    BLOCK = "block"  # no longer allowed
    WITHDRAW = "withdraw"  # no one needs it any more


class StartCheck(NamedTuple):
    verdict: StartVerdict
    reason: str = ""


@dataclass(frozen=True, slots=True)
class StartState:
    """What the run and the installation look like at the start of an action."""

    at: datetime
    is_current: bool  # the execution is not archived or ended, its generation is current, and the run is open
    run_in_progress: bool
    blocked: str = ""  # why the type, host, secret or tool is no longer allowed


def check_start(action: Action, state: StartState, c: Circumstances, electorate: Electorate) -> StartCheck:
    """The first reason that applies. Called for an approved action, or an unknown one that may be sent again."""
    if not state.is_current:
        return StartCheck(StartVerdict.WITHDRAW, "Its execution has been repeated, archived or ended.")
    if reason := _why_hold(action, state, c):
        return StartCheck(StartVerdict.HOLD, reason)
    if state.blocked:
        return StartCheck(StartVerdict.BLOCK, state.blocked)
    if action.approved_until is not None and state.at >= action.approved_until:
        return StartCheck(StartVerdict.ASK_AFRESH, "The approval has expired.")
    if action.state is not ActionState.UNKNOWN and action.approved_by == BY_OVERRIDE:
        return _check_override(action, c)
    if action.state is ActionState.UNKNOWN or action.approved_by == BY_PEOPLE:
        choice = SEND_AGAIN if action.state is ActionState.UNKNOWN else APPROVE
        current = with_requirements(action, c.rules.asking)
        if is_agreed(current, c.history, electorate, choice):
            return StartCheck(StartVerdict.START)
        return StartCheck(StartVerdict.ASK, CHANGED)
    judgment = judge(action, c)
    if judgment.is_approved:
        return StartCheck(StartVerdict.START)
    return StartCheck(StartVerdict.ASK, judgment.reason)


def _check_override(action: Action, c: Circumstances) -> StartCheck:
    """An admin's decision replaces the seats, but not what was shown."""
    if valid_votes(action, c.history, APPROVE):
        return StartCheck(StartVerdict.START)
    return StartCheck(StartVerdict.ASK, CHANGED)


def _why_hold(action: Action, state: StartState, c: Circumstances) -> str:
    if not state.run_in_progress:
        return "The run is paused."
    if c.gate.stops_actions:
        return c.gate.explanation
    if not c.rules.is_readable:
        return "The approval rules can't be read. An admin has to correct them."
    if action.state is not ActionState.UNKNOWN and (other := c.history.being_executed(action)) is not None:
        return f"An equal action is {'unknown' if other.is_unsettled else 'being executed'}: {other.id}."
    return ""
