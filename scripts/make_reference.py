#!/usr/bin/env python3
"""Writes the pages of docs/reference/ that are made from code: `make docs`."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterable, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Any

import typer.main

from cairn import services
from cairn.api.app import describe, operation_routes
from cairn.api.openapi import TAGS
from cairn.api.problems import KINDS
from cairn.api.routes.approvals import DECISION_PERMISSIONS
from cairn.cli.app import app as commands
from cairn.cli.exit_codes import MEANINGS
from cairn.config import Settings
from cairn.core.events import EventType
from cairn.definitions import authoring_schema
from cairn.services.actors import ALL_SCOPES, Permission, Role, Scope
from cairn.store.events.descriptions import CHOICES, SENTENCES
from cairn.store.events.descriptions import describe as describe_event

FOLDER = Path(__file__).parent.parent / "docs" / "reference"
MADE = "Made from `{source}` by `scripts/make_reference.py`: run `make docs` after changing it."
SHORT_FORMS = ("agent", "prompt", "script", "function", "form", "outputs", "approve", "needs")

# Parts of a definition that are checked and kept, and that nothing carries out yet.
LATER = frozenset({"Loop", "LoopCondition", "Recovery", "Checkpoint.loop", "Pipeline.recovery"})


# ---- writing ----------------------------------------------------------------------------------------
def page(title: str, source: str, *parts: str) -> str:
    return "\n\n".join([f"# {title}", MADE.format(source=source), *(part for part in parts if part)]) + "\n"


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [heads, ["---"] * len(heads), *([cell.replace("|", "\\|") for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def code(value: object) -> str:
    return f"`{value}`"


def plain(text: str) -> str:
    """The text on one line."""
    return " ".join(text.split())


# ---- settings ---------------------------------------------------------------------------------------
SETTINGS = """\
What is not set has its default. A setting is taken from the command line (`--data-dir`, `--host`, `--port`), else from
the environment, else from `settings.toml` in the data folder. In the environment a list is written as JSON:
`CAIRN_FUNCTIONS='["my_functions"]'`. In the file the names are in lower case and without the prefix:
`functions = ["my_functions"]`; a name there that is not in this table is refused."""

PROVIDERS = """\
Each entry of `oidc`. In `settings.toml` it is a table `[[oidc]]`. [The guide](../guide/people.md) tells how they
work."""

MODEL_PROVIDERS = """\
Each entry of `model_providers`, by the name that models are named with. In `settings.toml` it is a table such as
`[model_providers.house]`; its models are then `house:NAME`. [The guide](../guide/models.md) tells more."""
MODEL_PRICES = """\
Each entry of `model_prices`. In `settings.toml` it is a table such as `[model_prices."house:*"]`."""
SERVERS = """\
Each entry of `mcp_servers`, by its name. In `settings.toml` it is a table `[mcp_servers.NAME]`. [The
guide](../guide/agents.md#mcp-servers) tells how agents use them."""


def settings() -> str:
    whole = Settings.model_json_schema()
    properties: dict[str, Any] = whole["properties"]
    rows = [
        (code(name), code(f"CAIRN_{name.upper()}"), kind(schema), default(schema), schema["description"])
        for name, schema in properties.items()
    ]
    heads = ("setting", "in the environment", "type", "default", "meaning")
    parts = [
        part
        for title, text, name in (
            ("Identity providers", PROVIDERS, "OidcSettings"),
            ("Providers of models", MODEL_PROVIDERS, "ModelProviderSettings"),
            ("Prices of models", MODEL_PRICES, "ModelPriceSettings"),
            ("MCP servers", SERVERS, "McpSettings"),
        )
        for part in (f"## {title}", text, fields_of(whole["$defs"][name], name))
    ]
    return page("Settings", "src/cairn/config/settings.py", SETTINGS, table(heads, rows), *parts)


def fields_of(schema: dict[str, Any], name: str) -> str:
    fields = rows_of(name, schema["properties"], schema.get("required", []))
    return table(("field", "type", "default", "meaning"), fields)


# ---- events -----------------------------------------------------------------------------------------
EVENTS = """\
Every change of a pipeline or a run writes its events in the same transaction. An event says what happened
(`event_type`, `description`, `metadata`), to what (`pipeline_id`, `run_id`, `execution_id`, `checkpoint_id`,
`approval_id`, `rollback_id`), when (`timestamp`) and by whom (`actor`). `seq` counts the events of one run, or of one
pipeline; `hash` binds each to the one before it, so that a change or a gap shows: `GET /api/events/verify` and
`cairn doctor` look for both. In the descriptions below, what stands in italics is filled in."""


def events() -> str:
    of_runs = [(code(event.value), sentence(event.value), remark(event)) for event in EventType]
    of_pipelines = [
        (code(name), sentence(name)) for name in told_by_services("tell", "append_pipeline_event", "EventRecord")
    ]
    of_all = [(code(name), sentence(name)) for name in told_by_services("append_global_event", "record")]
    by_value = [
        (code(name), f"`{key}`: {value}", filled_in(words))
        for name, (key, sentences) in CHOICES.items()
        for value, words in sentences.items()
    ]
    return page(
        "Events",
        "src/cairn/core/events.py",
        EVENTS,
        "## Of a run",
        table(("event", "description", "remark"), of_runs),
        "## Of a pipeline, and of making a run",
        table(("event", "description"), of_pipelines),
        "## Of all else",
        "`seq` counts these together, and `pipeline_id` is null.",
        table(("event", "description"), of_all),
        "## By what it is about",
        "Some events have a sentence of their own for a value in their metadata.",
        table(("event", "metadata", "description"), by_value),
    )


def sentence(name: str) -> str:
    return filled_in(SENTENCES.get(name) or describe_event(name, None, {}))


def filled_in(plain_text: str) -> str:
    """What will be filled in stands in italics."""
    words = {"name": "checkpoint"}
    return re.sub(r"\{(\w+)\}", lambda found: f"*{words.get(found[1], found[1]).replace('_', ' ')}*", plain_text)


def remark(member: StrEnum) -> str:
    """The comment beside it."""
    found = re.search(rf"^    {member.name} = .*?  # (?!noqa)(.*)$", inspect.getsource(type(member)), re.MULTILINE)
    return found[1] if found else ""


def told_by_services(*functions: str) -> list[str]:
    """Events that are told beside those of the core, by their names in the source of the services."""
    sources = [file.read_text(encoding="utf-8") for file in sorted(Path(services.__path__[0]).rglob("*.py"))]
    calls = [node for source in sources for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
    names = [_first_text(call) for call in calls if _called(call) in functions]
    order = {name: number for number, name in enumerate(SENTENCES)}
    return sorted({name for name in names if name}, key=lambda name: (order.get(name, len(order)), name))


def _called(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def _first_text(call: ast.Call) -> str | None:
    texts = [arg.value for arg in call.args if isinstance(arg, ast.Constant) and isinstance(arg.value, str)]
    return texts[0] if texts else None


# ---- definition fields --------------------------------------------------------------------------------
DEFINITION = """\
Every field that a definition may have. [The guide](../guide/definitions.md) shows how they are used. `cairn schema`
prints the same as a JSON Schema, for editors. *Not yet*: it is checked and kept, and nothing carries it out in this
version."""


def definition() -> str:
    schema = authoring_schema()
    parts: list[str] = [DEFINITION, *section("Pipeline", schema)]
    for name, inner in schema["$defs"].items():
        if "properties" in inner and "title" in inner:
            parts += section(name, inner)
    return page("Definition fields", "src/cairn/definitions/schema.json", *parts)


def section(name: str, schema: dict[str, Any]) -> list[str]:
    heading = f"## {name}" + (" (not yet)" if name in LATER else "")
    required: list[str] = schema.get("required", [])
    fields = list(rows_of(name, schema["properties"], required))
    text = plain(schema.get("description", ""))
    if name != "Checkpoint":
        return [heading, text, table(("field", "type", "default", "meaning"), fields)]
    short = [row for row in fields if row[0].strip("`") in SHORT_FORMS]
    return [
        heading,
        text,
        table(("field", "type", "default", "meaning"), [row for row in fields if row not in short]),
        "### Short forms",
        "Written instead of the full form, and stored as the full form.",
        table(("short form", "type", "default", "meaning"), short),
    ]


def rows_of(owner: str, fields: dict[str, Any], required: Sequence[str] = (), before: str = "") -> Iterable[list[str]]:
    """A row for each field; those of an object that has no section of its own stand right after it."""
    for name, schema in fields.items():
        if name == "$schema":
            continue
        meaning = plain(schema.get("description") or resolved(schema).get("description", ""))
        later = f"{owner}.{before}{name}" in LATER
        given = "required" if name in required else default(schema)
        yield [code(f"{before}{name}"), kind(schema), given, meaning + (" *Not yet.*" if later else "")]
        inner = schema.get("items", schema)
        if "properties" in inner:
            yield from rows_of(owner, inner["properties"], inner.get("required", ()), f"{before}{name}.")


def resolved(schema: dict[str, Any]) -> dict[str, Any]:
    if schema.get("$ref") == "#/$defs/OidcSettings":
        return {"properties": {}, "title": "Identity providers"}
    while str(schema.get("$ref", "")).startswith("#"):
        schema = authoring_schema()["$defs"][schema["$ref"].rpartition("/")[2]]
    return schema


def kind(schema: dict[str, Any]) -> str:
    """The type of a field in a few words."""
    found = resolved(schema)
    if "$ref" in found:
        return "JSON Schema"
    if "properties" in found and "title" in found:
        name = found["title"]
        return f"[{name}](#{name.lower().replace(' ', '-')}{'-not-yet' if name in LATER else ''})"
    if "enum" in found:
        return " or ".join(code(choice) for choice in found["enum"])
    if "anyOf" in found:
        return " or ".join(dict.fromkeys(kind(choice) for choice in found["anyOf"] if choice.get("type") != "null"))
    if found.get("type") == "array":
        return f"list of {kind(found.get('items', {}))}"
    names = found.get("type", "any value")
    listed: list[str] = names if isinstance(names, list) else [names]
    return " or ".join({"string": "text"}.get(name, name) for name in listed)


def default(schema: dict[str, Any]) -> str:
    value = schema.get("default", resolved(schema).get("default"))
    if value is None:
        return ""
    return code({True: "true", False: "false"}[value] if isinstance(value, bool) else value) if value != "" else ""


# ---- HTTP ----------------------------------------------------------------------------------------------
HTTP = """\
Every operation, who may call it, and what can go wrong. [The guide](../guide/api.md) tells how to sign in, page,
repeat and follow. A running server has all of it with types and examples at `GET /api/openapi.json`. *Everybody* is
whoever is signed in; an admin may do everything."""


def http() -> str:
    spec = describe().openapi()
    parts: list[str] = [HTTP]
    for tag, told in TAGS.items():
        rows = [
            (code(f"{method.upper()} {path}"), plain(operation["description"].partition("\n\n")[0]), roles(operation))
            for path, methods in spec["paths"].items()
            for method, operation in methods.items()
            if operation["tags"] == [tag]
        ]
        parts += [f"## {tag}", told, table(("operation", "what it does", "who"), rows)]
    problems = [(code(f"urn:cairn:problem:{slug}"), str(status), title) for slug, (status, title) in KINDS.items()]
    parts += [
        "## Problems",
        "The `type` of an error, its status and its title.",
        table(("type", "status", "title"), problems),
    ]
    return page("HTTP operations", "src/cairn/api/", *parts)


def roles(operation: dict[str, Any]) -> str:
    allowed: list[str] | None = operation.get("x-roles")
    if allowed is None:
        return "no sign-in needed"
    if "viewer" in allowed:
        return "everybody"
    return ", ".join(role for role in allowed if role != "admin") or "admin"


# ---- permissions ---------------------------------------------------------------------------------------
PERMISSIONS_TEXT = """\
Who may call which operation. Roles add up, and an admin may do everything. A session, and a token without scopes, may
do what its user's roles allow. A token that was made with scopes may do only what one of them allows as well.
*Everybody* is whoever is signed in and has a role. A test sends every operation as every role with every scope, and
holds the answers against this table.

One thing depends on what is looked at: a conversation that its definition does not show (`show_conversation: false`) is
for the audit. Only an admin sees it, with a token only one that has the scope `admin`, in `list_messages`,
`get_conversation` and `stream_run`; everybody sees what it has cost."""
WHO_MAY = {4: "everybody", 1: "admin"}


def permissions() -> str:
    rows = [
        (code(route.name), code(f"{method} {route.path}"), who_may(allowed), which_scope(allowed))
        for route in operation_routes()
        for method, allowed in [(next(iter(route.methods - {"HEAD"})), route.operation.permission)]
    ]
    decisions = [(code(name), who_may(allowed), which_scope(allowed)) for name, allowed in DECISION_PERMISSIONS.items()]
    return page(
        "Permissions",
        "src/cairn/api/routes/",
        PERMISSIONS_TEXT,
        "## Roles",
        table(("role", "meaning"), [(code(role.value), remark(role)) for role in Role]),
        "## Scopes",
        table(("scope", "meaning"), [(code(scope.value), remark(scope)) for scope in Scope]),
        "## Operations",
        table(("operation", "request", "who", "scope"), rows),
        "## Decisions",
        "Which decision it is says further who may, for `decide_approval`.",
        table(("decision", "who", "scope"), decisions),
    )


def who_may(allowed: Permission | None) -> str:
    if allowed is None:
        return "no sign-in needed"
    roles = allowed.roles | {"admin"}
    return WHO_MAY.get(len(roles)) or ", ".join(sorted(roles - {"admin"}))


def which_scope(allowed: Permission | None) -> str:
    if allowed is None:
        return ""
    return "any" if allowed.scopes == ALL_SCOPES else ", ".join(sorted(allowed.scopes))


# ---- command line ----------------------------------------------------------------------------------------
CLI = """\
Every command, with its options and an example. [The guide](../guide/cli.md) tells how they go together. Commands that
talk to a server find it by the data folder's `server.json`; where none runs they open the folder themselves. These
have the options `--data-dir`, `--server`, `--token` and `--json` besides their own. `cairn --install-completion`
teaches your shell the commands, and names of pipelines and runs while a server runs. `cairn --version` prints the
versions of Cairn, Python and SQLite."""

WHERE = ("--data-dir", "--server", "--token", "--json")


def cli() -> str:
    root: Any = typer.main.get_command(commands)
    codes = [(code(int(number)), meaning) for number, meaning in MEANINGS.items()]
    parts = [CLI, "## Exit codes", table(("code", "meaning"), codes)]
    for words, command in sorted(leaves(("cairn",), root)):
        parts += command_section(" ".join(words), command)
    return page("Command line", "src/cairn/cli/", *parts)


def leaves(words: tuple[str, ...], command: Any) -> Iterable[tuple[tuple[str, ...], Any]]:
    if not hasattr(command, "commands"):
        yield words, command
        return
    for name, inner in command.commands.items():
        yield from leaves((*words, name), inner)


def command_section(name: str, command: Any) -> list[str]:
    text, _, example = inspect.cleandoc(command.help).partition("Example: ")
    is_online = any("--server" in option.opts for option in command.params)
    options = [
        (
            code(", ".join(option.opts) if option.opts[0].startswith("-") else option.metavar or option.name.upper()),
            option.help,
            shown(option),
        )
        for option in command.params
        if option.opts and not (is_online and option.opts[0] in WHERE)
    ]
    parts = [f"## {name}", " ".join(text.split())]
    parts += [table(("option", "meaning", "default"), options)] if options else []
    return [*parts, *([f"```sh\n{example.strip()}\n```"] if example else [])]


def shown(option: Any) -> str:
    return code(option.show_default) if isinstance(option.show_default, str) else ""


PAGES = {
    "settings.md": settings,
    "events.md": events,
    "definition.md": definition,
    "http.md": http,
    "permissions.md": permissions,
    "cli.md": cli,
}


if __name__ == "__main__":
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, make in PAGES.items():
        (FOLDER / name).write_text(make(), encoding="utf-8")
