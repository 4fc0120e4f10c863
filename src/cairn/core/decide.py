"""The one door: a command comes in; the new run, its events and its effects go out."""

from __future__ import annotations

from dataclasses import dataclass

from cairn.core import reports, timers, user_commands
from cairn.core.commands import ArchiveRun, Command, CommandContext, Report, RunCommand, Timer, UndoRollback
from cairn.core.draft import Draft
from cairn.core.effects import Dispatch, Effect, ScheduleTimer, StopExecution
from cairn.core.errors import StaleCommand
from cairn.core.events import Event
from cairn.core.run import Run
from cairn.core.settle import settle

# Files stand between, in the order in which they were decided.
ORDER: dict[type[Effect], int] = {StopExecution: 0, Dispatch: 2, ScheduleTimer: 3}


@dataclass(frozen=True, slots=True)
class Decision:
    run: Run
    events: tuple[Event, ...]
    effects: tuple[Effect, ...]


def decide(run: Run, command: Command, context: CommandContext) -> Decision:
    """What the command does. Refused or stale, it raises and nothing has changed."""
    if run.archived_by is not None and not isinstance(command, UndoRollback | ArchiveRun):
        raise StaleCommand("The run is archived by a rollback; undo that first.", ("undo the rollback",))
    d = Draft(run, context)
    if isinstance(command, Report):
        reports.apply(d, command)
    elif isinstance(command, Timer):
        timers.apply(d, command)
    elif isinstance(command, RunCommand):
        user_commands.command_run(d, command)
    else:
        user_commands.command_execution(d, command)
    settle(d)
    d.effects.sort(key=lambda effect: ORDER.get(type(effect), 1))
    return Decision(d.run, tuple(d.events), tuple(d.effects))
