"""Every command, in the order that `cairn --help` lists them."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Annotated, Any

import typer

from cairn.cli import versions
from cairn.cli.commands import (
    account,
    agents,
    approvals,
    autonomy,
    conversations,
    costs,
    deciding,
    definitions,
    diagnosis,
    forms,
    going_back,
    letting_in,
    models,
    notices,
    people,
    pipelines,
    projects,
    records,
    reworking,
    runs,
    scripts,
    steering,
    templates,
    upkeep,
)

app = typer.Typer(
    name="cairn",
    help="Runs multi-step work that people must be able to trust.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich" if sys.stdout.isatty() else None,  # boxes and colours take a tenth of a second
    context_settings={"help_option_names": ["--help", "-h"]},
)


@app.callback()
def root(
    _: Annotated[
        bool,
        typer.Option(
            "--version",
            callback=versions.print_and_exit,
            is_eager=True,
            help="Print the versions of Cairn, Python and SQLite, and exit.",
        ),
    ] = False,
) -> None:
    """Options that belong to no command."""


COMMANDS: dict[str, tuple[Callable[..., Any], ...]] = {
    "Define": (projects.init, definitions.validate, definitions.apply, definitions.diff),
    "Run": (
        runs.run,
        runs.runs,
        runs.show,
        runs.watch,
        runs.executions,
        steering.start,
        steering.pause,
        steering.resume,
        steering.cancel,
        steering.retry,
        steering.restart,
        costs.budget,
    ),
    "Decide": (deciding.submit, deciding.approve, deciding.revise, deciding.reject),
    "Go back": (going_back.rollback, going_back.undo, reworking.rework, reworking.rerun),
    "Look": (
        reworking.lineage,
        records.logs,
        conversations.conversation,
        costs.costs,
        records.context,
        records.events,
    ),
    "People": (),
    "Look after": (upkeep.serve, upkeep.status, diagnosis.doctor, upkeep.schema, upkeep.version),
}
GROUPS: dict[str, dict[str, typer.Typer]] = {
    "Define": {
        "pipelines": pipelines.pipelines_app,
        "checkpoints": pipelines.checkpoints_app,
        "scripts": scripts.scripts_app,
        "templates": templates.templates_app,
        "agents": agents.agents_app,
    },
    "Decide": {"approvals": approvals.approvals_app, "forms": forms.forms_app, "rules": autonomy.rules_app},
    "Go back": {"rollbacks": going_back.rollbacks_app},
    "Look": {"artifacts": records.artifacts_app, "audit": records.audit_app},
    "People": {
        "users": account.users_app,
        "groups": people.groups_app,
        "delegations": people.delegations_app,
        "tokens": letting_in.tokens_app,
        "sessions": letting_in.sessions_app,
        "secrets": letting_in.secrets_app,
    },
    "Look after": {
        "config": upkeep.config_app,
        "models": models.models_app,
        "channels": notices.channels_app,
        "deliveries": notices.deliveries_app,
        "preferences": notices.preferences_app,
    },
}

for _panel, _commands in COMMANDS.items():
    for _command in _commands:
        app.command(rich_help_panel=_panel)(_command)
    for _name, _group in GROUPS.get(_panel, {}).items():
        app.add_typer(_group, name=_name, rich_help_panel=_panel)
