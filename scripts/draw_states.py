#!/usr/bin/env python3
"""Draws docs/reference/states.md from the tables of moves: run it after changing them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from pathlib import Path
from typing import TypeVar

from cairn.core import transitions
from cairn.core.states import IN_PROGRESS, ExecutionState, RunStatus

Place = TypeVar("Place", bound=StrEnum)
Move = TypeVar("Move", bound=StrEnum)
PAGE = Path(__file__).parent.parent / "docs" / "reference" / "states.md"

TEXT = """\
# States

Drawn from the tables in `src/cairn/core/transitions.py` by `scripts/draw_states.py`. A transition that is not drawn
is not possible: the command is refused, the answer lists what is possible, and nothing changes.

## A run

```mermaid
{run}
```

*retry*: a failed execution is tried again. *rework*: a completed checkpoint is done again. *dismiss*: an execution is
cancelled by hand. *restart*: the next pass begins.

Undoing a rollback puts back the status from before it{restored}.

## An execution

`ready`, `working` and `waiting` are shown as `in_progress`. A ready one goes to a runner, or to a person's form, as
soon as the run goes on; while the run is paused it stays ready. What a waiting one waits for is its `waiting_on`.

```mermaid
{execution}
```

## An approval

What may be answered, by kind, and what the approval becomes. An approval that nobody answers in time becomes
`timeout`; one whose execution is taken away becomes `withdrawn`; one that a rule approves becomes `auto_approved`.

{decisions}
"""


def arrows(table: Mapping[Place, Mapping[Move, Place]]) -> Iterable[tuple[str, str, str]]:
    """From, to, and the verbs that lead there."""
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


def decisions() -> str:
    rows = [
        f"| {kind.value} | {decision} | {status.value} |"
        for kind, row in transitions.DECISIONS.items()
        for decision, status in row.items()
    ]
    return "\n".join(["| kind | decision | the approval becomes |", "|---|---|---|", *rows])


def restored() -> str:
    other = [
        f"{before.value} as {after.value}" for before, after in transitions.RESTORED.items() if before is not after
    ]
    return f" ({', '.join(other)} with a pause asked for)" if other else ""


def page() -> str:
    return TEXT.format(run=run(), execution=execution(), decisions=decisions(), restored=restored())


if __name__ == "__main__":
    PAGE.parent.mkdir(parents=True, exist_ok=True)
    PAGE.write_text(page(), encoding="utf-8")
