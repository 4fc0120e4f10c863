"""The table of all legal transitions of actions. Nothing else sets a state."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from cairn.core.action import Action
from cairn.core.errors import CommandRefused
from cairn.core.states import EXECUTED, ActionState


class ActionTransition(StrEnum):
    MARK_TEST = "mark_test"  # of a test run
    BLOCK = "block"  # not allowed: schema, secret, host, tool
    ASK = "ask"  # people
    ALLOW = "allow"  # by a rule
    VOTE = "vote"
    RESET_VOTES = "reset_votes"  # earlier actions have changed, so people have to look again
    AGREE = "agree"  # all seats are filled
    MODIFY = "modify"
    REUSE = "reuse"  # an earlier result
    REJECT = "reject"  # a person's no: rejected, sent back or revoked
    EXPIRE = "expire"
    WITHDRAW = "withdraw"
    ASK_AGAIN = "ask_again"  # the check at the start found that the approval no longer holds
    START = "start"
    HAND_OVER = "hand_over"
    SUCCEED = "succeed"
    FAIL = "fail"
    MARK_UNKNOWN = "mark_unknown"
    CONFIRM = "confirm"  # people say that it happened
    DENY = "deny"  # people say that it did not happen
    ALLOW_RESEND = "allow_resend"
    RESEND = "resend"
    REVOKE_RESEND = "revoke_resend"
    ABANDON = "abandon"  # give up on an unknown outcome
    MERGE = "merge"  # the journal knows a start that the database does not


S, T = ActionState, ActionTransition

ACTION: dict[ActionState, dict[ActionTransition, ActionState]] = {
    S.PROPOSED: {
        T.MARK_TEST: S.TEST,
        T.BLOCK: S.REFUSED,
        T.REUSE: S.REUSED,
        T.ALLOW: S.APPROVED,
        T.ASK: S.WAITING,
        T.REJECT: S.REFUSED,
        T.WITHDRAW: S.WITHDRAWN,
        T.MERGE: S.UNKNOWN,
    },
    S.WAITING: {
        T.VOTE: S.WAITING,
        T.RESET_VOTES: S.WAITING,
        T.MODIFY: S.WAITING,
        T.AGREE: S.APPROVED,
        T.ALLOW: S.APPROVED,
        T.REUSE: S.REUSED,
        T.REJECT: S.REFUSED,
        T.BLOCK: S.REFUSED,
        T.EXPIRE: S.EXPIRED,
        T.WITHDRAW: S.WITHDRAWN,
        T.MERGE: S.UNKNOWN,
    },
    S.APPROVED: {
        T.START: S.STARTED,
        T.HAND_OVER: S.HANDED_OVER,
        T.ASK_AGAIN: S.WAITING,
        T.REJECT: S.REFUSED,
        T.BLOCK: S.REFUSED,
        T.WITHDRAW: S.WITHDRAWN,
        T.MERGE: S.UNKNOWN,
    },
    S.STARTED: {T.SUCCEED: S.DONE, T.FAIL: S.FAILED, T.MARK_UNKNOWN: S.UNKNOWN, T.MERGE: S.UNKNOWN},
    S.HANDED_OVER: {T.SUCCEED: S.DONE, T.FAIL: S.FAILED, T.MARK_UNKNOWN: S.UNKNOWN, T.MERGE: S.UNKNOWN},
    S.UNKNOWN: {
        T.VOTE: S.UNKNOWN,
        T.CONFIRM: S.DONE,
        T.DENY: S.FAILED,
        T.ALLOW_RESEND: S.UNKNOWN,
        T.RESEND: S.STARTED,
        T.HAND_OVER: S.HANDED_OVER,
        T.REVOKE_RESEND: S.UNKNOWN,
        T.ABANDON: S.UNKNOWN,
        T.MERGE: S.UNKNOWN,
    },
    S.FAILED: {T.MERGE: S.UNKNOWN},
    S.DONE: {},
    S.REFUSED: {},
    S.REUSED: {},
    S.TEST: {},
    S.WITHDRAWN: {},
    S.EXPIRED: {},
}
LOCKED = EXECUTED | {S.FAILED}  # an action in these states stays in them


def move(action: Action, transition: ActionTransition, **changes: Any) -> Action:
    """The action after a transition. Raises CommandRefused if the table does not have it."""
    to = ACTION[action.state].get(transition)
    if to is None:
        name = transition.value.replace("_", " ")
        raise CommandRefused(f"The action is {action.state.value.replace('_', ' ')}. It can't {name} now.")
    return action.replace(state=to, **changes)
