"""All commands, in the order in which `cairn --help` lists them."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Annotated, Any

import typer

from cairn.cli import versions
from cairn.cli.commands import (
    account,  # noqa: F401  # pyright: ignore[reportUnusedImport] - adds commands to the users group
    action_types,
    agents,
    approvals,
    artifacts,
    channels,
    conversations,
    costs,
    decisions,
    definitions,
    delegations,
    deliveries,
    doctor,
    emergency_stop,  # noqa: F401  # pyright: ignore[reportUnusedImport] - adds commands to the rules group
    events,
    forms,
    groups,
    invitations,  # noqa: F401  # pyright: ignore[reportUnusedImport] - adds commands to the users group
    logs,
    models,
    pipelines,
    preferences,
    projects,
    rework,
    rollbacks,
    rule_autonomy,
    run_control,
    runs,
    scripts,
    secrets,
    server,
    sessions,
    templates,
    tokens,
    tools,
    users,
)

app = typer.Typer(
    name="cairn",
    help="Run multi-step AI work that people can trust.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich" if sys.stdout.isatty() else None,  # loading Rich takes a tenth of a second
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
    """Global options."""


COMMANDS: dict[str, tuple[Callable[..., Any], ...]] = {
    "Define": (projects.init, definitions.validate, definitions.apply, definitions.diff),
    "Run": (
        runs.run,
        runs.runs,
        runs.show,
        runs.watch,
        runs.executions,
        run_control.start,
        run_control.pause,
        run_control.resume,
        run_control.cancel,
        run_control.retry,
        run_control.restart,
        costs.budget,
    ),
    "Approve": (decisions.submit, decisions.approve, decisions.revise, decisions.reject),
    "Roll back": (rollbacks.rollback, rollbacks.undo, rework.rework, rework.rerun),
    "Inspect": (
        rework.lineage,
        logs.logs,
        conversations.conversation,
        costs.costs,
        conversations.context,
        events.events,
    ),
    "Access": (),
    "Operate": (server.serve, server.status, doctor.doctor, server.schema, server.version),
}
GROUPS: dict[str, dict[str, typer.Typer]] = {
    "Define": {
        "pipelines": pipelines.pipelines_app,
        "checkpoints": pipelines.checkpoints_app,
        "scripts": scripts.scripts_app,
        "templates": templates.templates_app,
        "agents": agents.agents_app,
    },
    "Approve": {
        "actions": action_types.actions_app,
        "approvals": approvals.approvals_app,
        "forms": forms.forms_app,
        "rules": rule_autonomy.rules_app,
    },
    "Roll back": {"rollbacks": rollbacks.rollbacks_app},
    "Inspect": {"artifacts": artifacts.artifacts_app, "audit": events.audit_app},
    "Access": {
        "users": users.users_app,
        "groups": groups.groups_app,
        "delegations": delegations.delegations_app,
        "tokens": tokens.tokens_app,
        "sessions": sessions.sessions_app,
        "secrets": secrets.secrets_app,
    },
    "Operate": {
        "config": server.config_app,
        "models": models.models_app,
        "tools": tools.tools_app,
        "channels": channels.channels_app,
        "deliveries": deliveries.deliveries_app,
        "preferences": preferences.preferences_app,
    },
}

for _panel, _commands in COMMANDS.items():
    for _command in _commands:
        app.command(rich_help_panel=_panel)(_command)
    for _name, _group in GROUPS.get(_panel, {}).items():
        app.add_typer(_group, name=_name, rich_help_panel=_panel)
