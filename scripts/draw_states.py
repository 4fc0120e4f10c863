#!/usr/bin/env python3
"""Generate docs/reference/states.md from the transition tables: `make docs`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from pathlib import Path
from typing import TypeVar

from cairn.core import transitions
from cairn.core.action_transitions import ACTION
from cairn.core.states import IN_PROGRESS, ActionState, ExecutionState, RunStatus

State = TypeVar("State", bound=StrEnum)
Verb = TypeVar("Verb", bound=StrEnum)
PAGE = Path(__file__).parent.parent / "docs" / "reference" / "states.md"

TEXT = """\
# States

Generated from the tables in `src/cairn/core/transitions.py` and `src/cairn/core/action_transitions.py` by
`scripts/draw_states.py`. Any other transition is impossible: Cairn rejects the command, lists the available commands,
and changes nothing.

## Run

```mermaid
{run}
```

*retry*: a failed execution is retried. *rework*: a completed checkpoint is done again. *dismiss*: a user cancels an
execution. *restart*: the next pass starts.

Undoing a rollback restores the status from before the rollback{restored}.

## Execution

`ready`, `working` and `waiting` are shown as `in_progress`. A ready execution is dispatched to a runner, or to a
person's form, unless the run is paused. `waiting_on` says what a waiting execution waits for.

```mermaid
{execution}
```

## Approval

The available decisions by kind, and the resulting status. An approval without a decision before its deadline gets
`timeout`. If its execution is cancelled or archived, it gets `withdrawn`. If a rule approves it, it gets
`auto_approved`.

{decisions}

## Action

An action that was started or handed over can only become done, failed or unknown. The database rejects every other
change too, and it keeps every action. *merge*: the journal has a start that the restored database doesn't know.

```mermaid
{action}
```
"""


def arrows(table: Mapping[State, Mapping[Verb, State]]) -> Iterable[tuple[str, str, str]]:
    """Each pair of states, with the verbs that lead from one to the other."""
    for state, row in table.items():
        for to in dict.fromkeys(row.values()):
            verbs = [verb.value.replace("_", " ") for verb, end in row.items() if end is to]
            yield state.value, to.value, ", ".join(verbs)


def run() -> str:
    lines = ["stateDiagram-v2", f"    [*] --> {RunStatus.NOT_STARTED.value}"]
    lines += [f"    {start} --> {end}: {verbs}" for start, end, verbs in arrows(transitions.RUN)]
    return "\n".join(lines)


def execution() -> str:
    lines = ["stateDiagram-v2"]
    lines += [
        f'    state "{state.value} (in progress)" as {state.value}' for state in ExecutionState if state in IN_PROGRESS
    ]
    lines += [f"    [*] --> {ExecutionState.PENDING.value}"]
    lines += [f"    {start} --> {end}: {verbs}" for start, end, verbs in arrows(transitions.EXECUTION)]
    lines += [f"    {state.value} --> [*]" for state, row in transitions.EXECUTION.items() if not row]
    return "\n".join(lines)


def action() -> str:
    lines = ["stateDiagram-v2", f"    [*] --> {ActionState.PROPOSED.value}"]
    lines += [f"    {start} --> {end}: {verbs}" for start, end, verbs in arrows(ACTION)]
    lines += [f"    {state.value} --> [*]" for state, row in ACTION.items() if not row]
    return "\n".join(lines)


def decisions() -> str:
    rows = [
        f"| {kind.value} | {decision} | {status.value} |"
        for kind, row in transitions.DECISIONS.items()
        for decision, status in row.items()
    ]
    return "\n".join(["| kind | decision | status |", "|---|---|---|", *rows])


def restored() -> str:
    other = [
        f"{before.value} as {after.value}" for before, after in transitions.RESTORED.items() if before is not after
    ]
    return f" ({', '.join(other)} with a pause requested)" if other else ""


def page() -> str:
    return TEXT.format(run=run(), execution=execution(), decisions=decisions(), action=action(), restored=restored())


if __name__ == "__main__":
    PAGE.parent.mkdir(parents=True, exist_ok=True)
    PAGE.write_text(page(), encoding="utf-8")
