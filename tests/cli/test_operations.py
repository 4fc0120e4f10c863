"""The commands cover every operation of the API, and use only the API."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import typer.main

import cairn.cli.commands
from cairn.api.app import operation_routes
from cairn.cli.app import app
from cairn.cli.client import Client

OPERATIONS = {route.name for route in operation_routes()}
# Only browsers sign in and out. Programs use tokens.
BROWSER_ONLY = {"sign_in", "sign_out", "list_sign_in_options", "start_sign_in", "finish_sign_in"} | {
    "preview_invitation",
    "accept_invitation",
}
# Covered by another operation, or by a command that needs no server.
COVERED_BY = {
    "update_pipeline": "replace_definition",
    "create_checkpoint": "add_checkpoint",
    "approve_start": "decide_approval",
    "approve_completion": "decide_approval",
    "approve_execution": "decide_approval",
    "revise_execution": "decide_approval",
    "reject_execution": "decide_approval",
    "get_rules_schema": "schema",
    "get_agent_schema": "schema",
    "get_conversation": "list_messages",
    "get_definition_schema": "schema",
}
SOURCES = "\n".join(
    file.read_text()
    for file in sorted([*Path(cairn.cli.commands.__path__[0]).glob("*.py"), *Path(cairn.cli.__path__[0]).glob("*.py")])
)
ROOT: Any = typer.main.get_command(app)


def leaves(command: Any, words: tuple[str, ...] = ()) -> list[tuple[str, Any]]:
    if not hasattr(command, "commands"):
        return [(" ".join(words), command)]
    return [leaf for name, inner in command.commands.items() for leaf in leaves(inner, (*words, name))]


COMMANDS = dict(leaves(ROOT))


@pytest.mark.parametrize("operation", sorted(OPERATIONS - BROWSER_ONLY - set(COVERED_BY)))
def test_every_operation_is_called_by_a_command(operation: str) -> None:
    assert hasattr(Client, operation)
    assert re.search(rf"client\.{operation}\(", SOURCES), f"no command calls {operation}"


def test_covered_operations_exist() -> None:
    assert set(COVERED_BY) <= OPERATIONS
    assert {name for name in COVERED_BY.values() if name not in OPERATIONS} == {"schema"}


def test_every_client_method_is_an_operation() -> None:
    calls = {name for kind in Client.__mro__[:-1] for name in vars(kind) if not name.startswith("_")}
    assert calls <= OPERATIONS


def test_all_specified_commands_exist() -> None:
    commands = """init validate apply diff run runs show watch start submit approve revise reject pause resume cancel
    retry rollback undo rework logs events doctor schema serve"""
    groups = {"artifacts list", "artifacts show", "artifacts download", "audit verify", "config show", "approvals list"}
    assert set(commands.split()) | groups <= set(COMMANDS)


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_every_command_has_help_with_an_example(name: str) -> None:
    help_text = COMMANDS[name].help
    assert f"Example: cairn {name.removesuffix(' list')}" in help_text
    assert all(option.help for option in COMMANDS[name].params if option.opts), name


@pytest.mark.parametrize("name", sorted(set(COMMANDS) - {"serve", "schema", "rules schema"}))
def test_every_command_can_print_json(name: str) -> None:
    """Except schemas, which are always JSON, and the server."""
    assert "--json" in [option for parameter in COMMANDS[name].params for option in parameter.opts]
