#!/usr/bin/env python3
"""Generate the pages of docs/reference from the code: `make docs`."""

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
GENERATED = "Generated from `{source}` by `scripts/make_reference.py`. Run `make docs` after you change the source."
SHORT_FORMS = ("agent", "prompt", "script", "function", "form", "outputs", "approve", "needs")

# Parts of a definition that are checked and stored, but have no effect yet.
NOT_YET = frozenset({"Loop", "LoopCondition", "Recovery", "Checkpoint.loop", "Pipeline.recovery"})


def page(title: str, source: str, *parts: str) -> str:
    return "\n\n".join([f"# {title}", GENERATED.format(source=source), *(part for part in parts if part)]) + "\n"


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [heads, ["---"] * len(heads), *([cell.replace("|", "\\|") for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def code(value: object) -> str:
    return f"`{value}`"


def single_line(text: str) -> str:
    return " ".join(text.split())


SETTINGS = """\
Set a setting on the command line (`--data-dir`, `--host`, `--port`), in the environment, or in `settings.toml` in the
data folder. If it is set in several places, the first one in this order wins. In the environment, write a list as JSON:
`CAIRN_FUNCTIONS='["my_functions"]'`. In the file, names are in lower case and without the prefix:
`functions = ["my_functions"]`. An unknown name in the file is an error. An unknown `CAIRN_…` variable is ignored with a
warning."""

PROVIDERS = """\
Each entry of `oidc`. In `settings.toml` it is a table `[[oidc]]`. [The guide](../guide/people.md) explains
them."""

MODEL_PROVIDERS = """\
Each entry of `model_providers`, by name. In `settings.toml` it is a table such as `[model_providers.company]`, and its
models are called `company:NAME`. [The guide](../guide/models.md) explains them."""
MODEL_PRICES = """\
Each entry of `model_prices`. In `settings.toml` it is a table such as `[model_prices."company:*"]`."""
SERVERS = """\
Each entry of `mcp_servers`, by name. In `settings.toml` it is a table `[mcp_servers.NAME]`. [The
guide](../guide/agents.md#mcp-servers) explains how agents use them."""

ACTION_TYPES = """\
Each entry of `actions`, by name. In `settings.toml` it is a table such as `[actions.refund]`. Of the built-in types
`send_email`, `http_request`, `financial_transaction` and `database_update`, fields that you leave out stay as they are.
[The guide](../guide/actions.md#the-catalogue) explains them."""


def settings() -> str:
    schema = Settings.model_json_schema()
    properties: dict[str, Any] = schema["properties"]
    rows = [
        (code(name), code(f"CAIRN_{name.upper()}"), kind(field), default(field), field["description"])
        for name, field in properties.items()
    ]
    heads = ("setting", "environment variable", "type", "default", "description")
    parts = [
        part
        for title, text, name in (
            ("Identity providers", PROVIDERS, "OidcSettings"),
            ("Model providers", MODEL_PROVIDERS, "ModelProviderSettings"),
            ("Model prices", MODEL_PRICES, "ModelPriceSettings"),
            ("MCP servers", SERVERS, "McpSettings"),
            ("Action types", ACTION_TYPES, "ActionTypeDeclaration"),
        )
        for part in (f"## {title}", text, fields_of(schema["$defs"][name], name))
    ]
    return page("Settings", "src/cairn/config/settings.py", SETTINGS, table(heads, rows), *parts)


def fields_of(schema: dict[str, Any], name: str) -> str:
    fields = rows_of(name, schema["properties"], schema.get("required", []))
    return table(("field", "type", "default", "description"), fields)


EVENTS = """\
Every change of a pipeline or a run records its events in the same transaction. An event contains what happened
(`event_type`, `description`, `metadata`), what it happened to (`pipeline_id`, `run_id`, `execution_id`,
`checkpoint_id`, `approval_id`, `rollback_id`), when (`timestamp`) and who caused it (`actor`). `seq` numbers the events
of a run or a pipeline. `hash` chains each event to the previous one, so that `GET /api/events/verify` and
`cairn doctor` can detect changes and gaps. In the descriptions below, words in italics are placeholders."""


def events() -> str:
    run_events = [(code(event.value), sentence(event.value), remark(event)) for event in EventType]
    run_events += [(code(name), sentence(name), "") for name in events_with_prefix("action_")]
    pipeline_types = service_event_types("append_event", "append_pipeline_event", "EventRecord", "_record_event")
    pipeline_events = [
        (code(name), sentence(name))
        for name in dict.fromkeys([*events_with_prefix("pipeline_", "checkpoint"), *pipeline_types])
    ]
    global_types = service_event_types("append_global_event", "record")
    global_events = [
        (code(name), sentence(name)) for name in dict.fromkeys([*global_types, *events_with_prefix("emergency_stop_")])
    ]
    variants = [
        (code(name), f"`{key}`: {value}", filled_in(template))
        for name, (key, sentences) in CHOICES.items()
        for value, template in sentences.items()
    ]
    return page(
        "Events",
        "src/cairn/core/events.py",
        EVENTS,
        "## Runs",
        table(("event", "description", "remark"), run_events),
        "## Pipelines, and the creation of runs",
        table(("event", "description"), pipeline_events),
        "## Everything else",
        "These events share one numbering, and their `pipeline_id` is null.",
        table(("event", "description"), global_events),
        "## Descriptions that depend on the metadata",
        "For some values in the metadata, an event has another description.",
        table(("event", "metadata", "description"), variants),
    )


def sentence(name: str) -> str:
    return filled_in(SENTENCES.get(name) or describe_event(name, None, {}))


def filled_in(plain_text: str) -> str:
    """Placeholders in italics."""
    labels = {"name": "checkpoint"}
    return re.sub(r"\{(\w+)\}", lambda match: f"*{labels.get(match[1], match[1]).replace('_', ' ')}*", plain_text)


def remark(member: StrEnum) -> str:
    """Return the comment on the line of an enum member."""
    match = re.search(rf"^    {member.name} = .*?  # (?!noqa)(.*)$", inspect.getsource(type(member)), re.MULTILINE)
    return match[1] if match else ""


def events_with_prefix(*prefixes: str) -> list[str]:
    """Return the event types whose names are built or chosen in the code, which `service_event_types` can't find."""
    known = {event.value for event in EventType}
    return [name for name in SENTENCES if name.startswith(prefixes) and name not in known]


def service_event_types(*functions: str) -> list[str]:
    """Return the event types that services record with one of these functions, read from their source."""
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


DEFINITION = """\
Every field of a definition. [The guide](../guide/definitions.md) shows how to use them. `cairn schema` prints a JSON
Schema for editors. *Not yet* means that Cairn checks and stores the field, but this version ignores it."""


def definition() -> str:
    schema = authoring_schema()
    parts: list[str] = [DEFINITION, *section("Pipeline", schema)]
    for name, inner in schema["$defs"].items():
        if "properties" in inner and "title" in inner:
            parts += section(name, inner)
    return page("Definition fields", "src/cairn/definitions/schema.json", *parts)


def section(name: str, schema: dict[str, Any]) -> list[str]:
    heading = f"## {name}" + (" (not yet)" if name in NOT_YET else "")
    required: list[str] = schema.get("required", [])
    fields = list(rows_of(name, schema["properties"], required))
    text = single_line(schema.get("description", ""))
    if name != "Checkpoint":
        return [heading, text, table(("field", "type", "default", "description"), fields)]
    short = [row for row in fields if row[0].strip("`") in SHORT_FORMS]
    return [
        heading,
        text,
        table(("field", "type", "default", "description"), [row for row in fields if row not in short]),
        "### Short forms",
        "Use these instead of the full form. Cairn stores the full form.",
        table(("short form", "type", "default", "description"), short),
    ]


def rows_of(owner: str, fields: dict[str, Any], required: Sequence[str] = (), before: str = "") -> Iterable[list[str]]:
    """A row for each field; the fields of an object without a section follow it."""
    for name, schema in fields.items():
        if name == "$schema":
            continue
        description = single_line(schema.get("description") or resolved(schema).get("description", ""))
        is_later = f"{owner}.{before}{name}" in NOT_YET
        requirement = "required" if name in required else default(schema)
        yield [code(f"{before}{name}"), kind(schema), requirement, description + (" *Not yet.*" if is_later else "")]
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
    target = resolved(schema)
    if "$ref" in target:
        return "JSON Schema"
    if "properties" in target and "title" in target:
        name = target["title"]
        return f"[{name}](#{name.lower().replace(' ', '-')}{'-not-yet' if name in NOT_YET else ''})"
    if "enum" in target:
        return " or ".join(code(choice) for choice in target["enum"])
    if "anyOf" in target:
        return " or ".join(dict.fromkeys(kind(choice) for choice in target["anyOf"] if choice.get("type") != "null"))
    if target.get("type") == "array":
        return f"list of {kind(target.get('items', {}))}"
    names: list[str] | str = target.get("type", "any value")
    return " or ".join({"string": "text"}.get(name, name) for name in ([names] if isinstance(names, str) else names))


def default(schema: dict[str, Any]) -> str:
    value = schema.get("default", resolved(schema).get("default"))
    if value is None:
        return ""
    return code({True: "true", False: "false"}[value] if isinstance(value, bool) else value) if value != "" else ""


HTTP = """\
Every operation, who can call it, and every problem type. [The guide](../guide/api.md) explains signing in, pages,
idempotency and streams. A running server returns the full description with types and examples at
`GET /api/openapi.json`. *Everyone* means every signed-in user with a role. Admins can do everything."""


def http() -> str:
    spec = describe().openapi()
    parts: list[str] = [HTTP]
    for tag, description in TAGS.items():
        rows = [
            (
                code(f"{method.upper()} {path}"),
                single_line(operation["description"].partition("\n\n")[0]),
                roles(operation),
            )
            for path, methods in spec["paths"].items()
            for method, operation in methods.items()
            if operation["tags"] == [tag]
        ]
        parts += [f"## {tag}", description, table(("operation", "description", "who"), rows)]
    problems = [(code(f"urn:cairn:problem:{slug}"), str(status), title) for slug, (status, title) in KINDS.items()]
    parts += [
        "## Problems",
        "The `type`, status and title of each kind of error.",
        table(("type", "status", "title"), problems),
    ]
    return page("HTTP operations", "src/cairn/api/", *parts)


def roles(operation: dict[str, Any]) -> str:
    allowed: list[str] | None = operation.get("x-roles")
    if allowed is None:
        return "no sign-in needed"
    if "viewer" in allowed:
        return "everyone"
    return ", ".join(role for role in allowed if role != "admin") or "admin"


PERMISSIONS_TEXT = """\
Who can call which operation. A user with several roles has the permissions of all of them, and admins can do
everything. A session, and a token without scopes, has the permissions of its user. A token with scopes is limited to
what both its scopes and its user's roles allow. *Everyone* means every signed-in user with a role. A test calls every
operation with every role and every scope and compares the responses with this table.

One permission depends on the definition: a conversation with `show_conversation: false` is for audits. Only admins see
it in `list_messages`, `get_conversation` and `stream_run`, and only with a token that has the scope `admin`, if it has
scopes. Everyone sees its cost."""
ROLE_COUNTS = {4: "everyone", 1: "admin"}


def permissions() -> str:
    rows = [
        (code(route.name), code(f"{method} {route.path}"), allowed_roles(allowed), allowed_scopes(allowed))
        for route in operation_routes()
        for method, allowed in [(next(iter((route.methods or set()) - {"HEAD"})), route.operation.permission)]
    ]
    decisions = [
        (code(name), allowed_roles(allowed), allowed_scopes(allowed)) for name, allowed in DECISION_PERMISSIONS.items()
    ]
    return page(
        "Permissions",
        "src/cairn/api/routes/",
        PERMISSIONS_TEXT,
        "## Roles",
        table(("role", "description"), [(code(role.value), remark(role)) for role in Role]),
        "## Scopes",
        table(("scope", "description"), [(code(scope.value), remark(scope)) for scope in Scope]),
        "## Operations",
        table(("operation", "request", "who", "scope"), rows),
        "## Decisions",
        "`decide_approval` also checks the permission for the decision.",
        table(("decision", "who", "scope"), decisions),
    )


def allowed_roles(allowed: Permission | None) -> str:
    if allowed is None:
        return "no sign-in needed"
    roles = allowed.roles | {"admin"}
    return ROLE_COUNTS.get(len(roles)) or ", ".join(sorted(roles - {"admin"}))


def allowed_scopes(allowed: Permission | None) -> str:
    if allowed is None:
        return ""
    return "any" if allowed.scopes == ALL_SCOPES else ", ".join(sorted(allowed.scopes))


CLI = """\
Every command with its options and an example. [The guide](../guide/cli.md) shows how to use them together. Commands
that need a server find it through `server.json` in the data folder. If no server runs, they open the folder
themselves. They also have the options `--data-dir`, `--server`, `--token` and `--json`. `cairn --install-completion`
adds shell completion for commands and, while a server runs, for the names of pipelines and runs. `cairn --version`
prints the versions of Cairn, Python and SQLite."""

COMMON_OPTIONS = ("--data-dir", "--server", "--token", "--json")


def cli() -> str:
    root: Any = typer.main.get_command(commands)
    codes = [(code(int(number)), meaning) for number, meaning in MEANINGS.items()]
    parts = [CLI, "## Exit codes", table(("code", "description"), codes)]
    for path, command in sorted(leaves(("cairn",), root)):
        parts += command_section(" ".join(path), command)
    return page("Command line", "src/cairn/cli/", *parts)


def leaves(path: tuple[str, ...], command: Any) -> Iterable[tuple[tuple[str, ...], Any]]:
    if not hasattr(command, "commands"):
        yield path, command
        return
    for name, inner in command.commands.items():
        yield from leaves((*path, name), inner)


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
        if option.opts and not (is_online and option.opts[0] in COMMON_OPTIONS)
    ]
    parts = [f"## {name}", " ".join(text.split())]
    parts += [table(("option", "description", "default"), options)] if options else []
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
    for name, generate in PAGES.items():
        (FOLDER / name).write_text(generate(), encoding="utf-8")
