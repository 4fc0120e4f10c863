"""Compare the journal with the ledger at the start: what a restored database forgot becomes known again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from cairn.core.action import Action, LimitUse, Place, Refusal
from cairn.core.action_transitions import ACTION, ActionTransition, move
from cairn.core.rule_verdict import RiskLevel
from cairn.core.states import ActionEffect, ActionState
from cairn.services.actions import event_records
from cairn.store import Connection, has_run
from cairn.store.actions import gate_state, ledger
from cairn.store.events import chain

HELD = "The database was restored and lacks actions that the journal knows. An admin has to review them."
MERGED = "The journal has a start that the restored database did not know."
ASKED_AGAIN = "The database was restored. Since its backup, the action was refused or an equal one was executed."
WORKER = "worker"


def start_line(action: Action, pipeline: str, journal: str, at: datetime) -> dict[str, Any]:
    """The line of a start, with everything that a merge needs."""
    use = action.limit_use
    return {
        "kind": "start",
        "journal": journal,
        "seq": action.start_seq,
        "action": action.id,
        "family": action.place.family,
        "run": action.run,
        "pipeline": pipeline,
        "execution": action.execution,
        "checkpoint": action.place.checkpoint,
        "item": action.place.item,
        "generation": action.generation,
        "operation": action.operation,
        "effect": action.effect.value,
        "identity": action.identity,
        "content_digest": action.content_digest,
        "occurrence": action.occurrence,
        "approved_by": action.approved_by,
        "rule": use.rule if use else None,
        "window": use.window if use else None,
        "amount": str(use.amount) if use and use.amount is not None else None,
        "currency": use.currency if use else None,
        "at": at.isoformat(),
    }


def refusal_line(refusal_id: str, refusal: Refusal) -> dict[str, Any]:
    """The line of a person's no."""
    return {
        "kind": "refusal",
        "id": refusal_id,
        "family": refusal.place.family,
        "checkpoint": refusal.place.checkpoint,
        "item": refusal.place.item,
        "operation": refusal.operation,
        "identity": refusal.identity,
        "refusal": refusal.kind,
        "by": refusal.by,
        "at": refusal.at.isoformat(),
    }


@dataclass(frozen=True, slots=True)
class MergeReport:
    """What the journal knew and the database did not."""

    actions: tuple[str, ...] = ()
    refusals: int = 0

    @property
    def is_empty(self) -> bool:
        return not self.actions and not self.refusals


def merge(connection: Connection, lines: Iterable[Mapping[str, Any]], at: datetime) -> MergeReport:
    """Merge the journal into the ledger, and hold the installation if anything was missing.

    Runs before anything else at the start of a server. A database that is ahead of the journal is harmless.
    """
    starts: list[Mapping[str, Any]] = []
    refusals: list[Mapping[str, Any]] = []
    for line in lines:
        if line.get("kind") == "start":
            starts.append(line)
        elif line.get("kind") == "refusal":
            refusals.append(line)
    missing = _missing_starts(connection, starts)
    merged = [_merge_start(connection, line, at) for line in sorted(missing, key=lambda line: str(line["at"]))]
    new_refusals = sum([_merge_refusal(connection, line, at) for line in refusals])
    for place, generation in _highest_generations(merged).items():
        ledger.raise_generation(connection, place, at_least=generation + 1)
    report = MergeReport(tuple(dict.fromkeys(action.id for action in merged)), new_refusals)
    if not report.is_empty:
        gate_state.hold(connection, HELD, WORKER, at)
        detail = {"actions": list(report.actions), "refusals": report.refusals}
        chain.append_global_event(connection, "actions_held", WORKER, at, detail)
    return report


def _missing_starts(connection: Connection, lines: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The starts with numbers that the database has not given yet. From now on, it has given them."""
    by_journal: dict[str, list[Mapping[str, Any]]] = {}
    for line in lines:
        by_journal.setdefault(line["journal"], []).append(line)
    missing: list[Mapping[str, Any]] = []
    for journal, written in by_journal.items():
        known = gate_state.last_start(connection, journal)
        new = [line for line in written if line["seq"] > known]
        if new:
            gate_state.save_last_start(connection, journal, max(line["seq"] for line in new))
            missing += new
    return missing


def _merge_start(connection: Connection, line: Mapping[str, Any], at: datetime) -> Action:
    """Make the outcome of a started action unknown, whatever the restored database thinks of it."""
    found = ledger.find_action(connection, line["action"])
    changes: dict[str, Any] = {
        "reason": MERGED,
        "was_unknown": True,
        "settled": False,
        "resend_permitted": False,
        "occurrence": _free_occurrence(connection, line, at),
        "identity": line["identity"],
        "content_digest": line["content_digest"],
        "approved_by": line["approved_by"],
        "limit_use": _limit_use(line),
        "start_seq": line["seq"],
        "votes": (),
    }
    if found is None:
        return _insert_forgotten(connection, line, changes, at)
    if ActionTransition.MERGE not in ACTION[found.state]:
        return found  # done stays done; the other final states were never started
    after = move(found, ActionTransition.MERGE, sends=max(found.sends, 1), **changes)
    details: dict[str, Any] = {"journal_id": line["journal"], "ended_at": None}
    if found.content_digest != line["content_digest"]:  # it was modified later, and what was sent is lost
        details |= {"content": None, "facts": None}
    return _save(connection, found, after, at, **details)


def _save(connection: Connection, before: Action, after: Action, at: datetime, **details: Any) -> Action:
    ledger.save_action(connection, before, after, **details)
    if after.state is not before.state:
        _record(connection, after, at)
    return after


def _record(connection: Connection, action: Action, at: datetime) -> None:
    """Record the new state, in the run if the restored database has it."""
    event = event_records.state_event(action)
    if has_run(connection, action.run):
        chain.append_run_event(connection, action.run, event, WORKER, at)
    else:
        chain.append_global_event(connection, event.type, WORKER, at, event.metadata)


def _free_occurrence(connection: Connection, line: Mapping[str, Any], at: datetime) -> int | None:
    """The occurrence of a start, after it is taken from equal actions that no longer had it at that time.

    The restored database may still think that they are approved or executed.
    """
    if line["effect"] != ActionEffect.CHANGES.value:
        return line["occurrence"]
    for other in ledger.same_occurrence(
        connection, line["family"], line["operation"], line["identity"], line["occurrence"]
    ):
        if other.id == line["action"]:
            continue
        if other.state is ActionState.APPROVED:
            _ask_again(connection, other, at)
        elif ActionTransition.MERGE in ACTION[other.state]:
            changes: dict[str, Any] = {"was_unknown": True, "settled": False, "resend_permitted": False, "votes": ()}
            after = move(other, ActionTransition.MERGE, reason=MERGED, occurrence=None, **changes)
            _save(connection, other, after, at)
        else:
            return None
    return line["occurrence"]


def _ask_again(connection: Connection, action: Action, at: datetime) -> None:
    """Let people decide again on an approval that the restored database wrongly has."""
    after = move(
        action,
        ActionTransition.ASK_AGAIN,
        reason=ASKED_AGAIN,
        approved_by="",
        approved_until=None,
        occurrence=None,
        limit_use=None,
        votes=(),
    )
    _save(connection, action, after, at)


def _limit_use(line: Mapping[str, Any]) -> LimitUse | None:
    if line["rule"] is None:
        return None
    amount = Decimal(line["amount"]) if line["amount"] is not None else None
    return LimitUse(line["rule"], line["window"], amount, line["currency"])


def _insert_forgotten(
    connection: Connection, line: Mapping[str, Any], changes: Mapping[str, Any], at: datetime
) -> Action:
    """An action that the restored database does not know. Its content is lost."""
    action = Action(
        id=line["action"],
        place=Place(line["family"], line["checkpoint"], line["item"]),
        run=line["run"],
        execution=line["execution"],
        operation=line["operation"],
        effect=ActionEffect(line["effect"]),
        risk=RiskLevel.HIGH,
        call_digest="",
        proposed_at=datetime.fromisoformat(line["at"]),
        generation=line["generation"],
        state=ActionState.UNKNOWN,
        sends=1,
        **changes,
    )
    details = {"pipeline_id": line["pipeline"], "journal_id": line["journal"], "summary": line["operation"]}
    ledger.insert_action(connection, action, details | {"reasoning": "", "risk_reasons": []})
    _record(connection, action, at)
    return action


def _merge_refusal(connection: Connection, line: Mapping[str, Any], at: datetime) -> bool:
    if ledger.has_refusal(connection, line["id"]):
        return False
    place = Place(line["family"], line["checkpoint"], line["item"])
    refusal = Refusal(
        line["operation"], place, line["identity"], line["refusal"], line["by"], datetime.fromisoformat(line["at"])
    )
    ledger.insert_refusal(connection, refusal, line["id"])
    for action in ledger.approved_here(connection, place, refusal.operation):
        if action.identity == refusal.identity and refusal.kind != "modify":
            _ask_again(connection, action, at)  # it may be the one that was revoked
    return True


def _highest_generations(actions: Iterable[Action]) -> dict[Place, int]:
    highest: dict[Place, int] = {}
    for action in actions:
        highest[action.place] = max(action.generation, highest.get(action.place, 0))
    return highest
