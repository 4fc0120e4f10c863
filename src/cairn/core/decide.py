"""The one door: a command comes in; the new run, its events and its effects go out."""

from __future__ import annotations

from dataclasses import dataclass

from cairn.core import messages as m
from cairn.core import people, reports, timers
from cairn.core.draft import Draft
from cairn.core.errors import Stale
from cairn.core.model import Run
from cairn.core.settle import settle

# Files stand between, in the order in which they were decided.
ORDER: dict[type[m.Effect], int] = {m.Stop: 0, m.Dispatch: 2, m.SendLater: 3}


@dataclass(frozen=True, slots=True)
class Decision:
    run: Run
    events: tuple[m.Event, ...]
    effects: tuple[m.Effect, ...]


def decide(run: Run, command: m.Command, given: m.Given) -> Decision:
    """What the command does. Refused or stale, it raises and nothing has changed."""
    if run.archived_by is not None and not isinstance(command, m.UndoRollback | m.TakeRunAway):
        raise Stale("The run is archived by a rollback; undo that first.", ("undo the rollback",))
    d = Draft(run, given)
    if isinstance(command, m.Report):
        reports.take(d, command)
    elif isinstance(command, m.Timer):
        timers.take(d, command)
    elif isinstance(command, m.RunCommand):
        people.command_run(d, command)
    else:
        people.command_execution(d, command)
    settle(d)
    d.effects.sort(key=lambda effect: ORDER.get(type(effect), 1))
    return Decision(d.run, tuple(d.events), tuple(d.effects))
