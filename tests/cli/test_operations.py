"""The terminal offers every operation of the API, and uses nothing but the API."""

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
# Only browsers sign in and out: a program brings its token.
BROWSERS = {"sign_in", "sign_out", "list_sign_in_options", "start_sign_in", "finish_sign_in"} | {
    "preview_invitation",
    "accept_invitation",
}
# Said by another operation that a command uses.
SAID_OTHERWISE = {
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
    "get_definition_schema": "schema",  # printed without a server
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


@pytest.mark.parametrize("operation", sorted(OPERATIONS - BROWSERS - set(SAID_OTHERWISE)))
def test_every_operation_is_a_call_that_a_command_makes(operation: str) -> None:
    assert hasattr(Client, operation)
    assert re.search(rf"client\.{operation}\(", SOURCES), f"no command calls {operation}"


def test_what_is_said_otherwise_is_said() -> None:
    assert set(SAID_OTHERWISE) <= OPERATIONS
    assert {name for name in SAID_OTHERWISE.values() if name not in OPERATIONS} == {"schema"}


def test_every_call_is_an_operation() -> None:
    calls = {name for kind in Client.__mro__[:-1] for name in vars(kind) if not name.startswith("_")}
    assert calls <= OPERATIONS


def test_the_commands_of_the_product_are_there() -> None:
    wanted = """init validate apply diff run runs show watch start submit approve revise reject pause resume cancel
    retry rollback undo rework logs events doctor schema serve"""
    groups = {"artifacts list", "artifacts show", "artifacts download", "audit verify", "config show", "approvals list"}
    assert set(wanted.split()) | groups <= set(COMMANDS)


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_every_command_explains_itself_with_an_example(name: str) -> None:
    told = COMMANDS[name].help
    assert f"Example: cairn {name.removesuffix(' list')}" in told
    assert all(option.help for option in COMMANDS[name].params if option.opts), name


@pytest.mark.parametrize("name", sorted(set(COMMANDS) - {"serve", "schema", "rules schema"}))
def test_every_command_answers_as_json(name: str) -> None:
    """A schema is JSON already; a server answers in its log."""
    assert "--json" in [option for parameter in COMMANDS[name].params for option in parameter.opts]
