"""Entry point of the core: decide what a command does to a run."""

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

# File effects come between (1), in the order in which they were added.
ORDER: dict[type[Effect], int] = {StopExecution: 0, Dispatch: 2, ScheduleTimer: 3}


@dataclass(frozen=True, slots=True)
class Decision:
    run: Run
    events: tuple[Event, ...]
    effects: tuple[Effect, ...]


def decide(run: Run, command: Command, context: CommandContext) -> Decision:
    """The run after the command, with its events and effects. Raises CommandRefused if the command is not possible."""
    if run.archived_by is not None and not isinstance(command, UndoRollback | ArchiveRun):
        raise StaleCommand("A rollback archived this run. Undo the rollback first.", ("undo the rollback",))
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
