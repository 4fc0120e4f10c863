"""What the routes do not say of themselves: who may, what can go wrong, how it looks."""

from __future__ import annotations

from typing import Any

from fastapi.routing import APIRoute

from cairn.api import problems
from cairn.api.admission import COOKIE, SAFE
from cairn.api.examples import REQUESTS, RESPONSES
from cairn.api.guarding import STREAMED, UNKEYED
from cairn.api.incoming import JSON
from cairn.api.openapi import camel
from cairn.api.permissions import PERMISSIONS
from cairn.services.view import View

Spec = dict[str, Any]
_ANY: Spec = {"description": "Any JSON value."}
_DEFINITION: Spec = {
    "type": "object",
    "additionalProperties": True,
    "description": "A definition; `/api/definitions/schema` says what it may hold.",
}
_AGENT: Spec = {
    "type": "object",
    "additionalProperties": True,
    "description": "An agent; `/api/definitions/agent-schema` says what it may hold.",
}
_WRITTEN = {JSON: _DEFINITION, "application/yaml": {"type": "string", "description": "The same as YAML."}}
_RULES: dict[str, Spec] = {
    "application/yaml": {"type": "string", "description": "Rules; `/api/rules/schema` says what they may hold."}
}
_RULES_SHOWN: dict[str, Spec] = {
    JSON: {"$ref": "#/components/schemas/RuleText"},
    "application/yaml": {"type": "string", "description": "The text alone."},
}
_FILE: Spec = {
    "type": "object",
    "properties": {"file": {"type": "string", "format": "binary"}},
    "required": ["file"],
}
# Operations that read their body themselves, by media type.
BODIES: dict[str, dict[str, Spec]] = {
    "create_pipeline": _WRITTEN,
    "update_pipeline": _WRITTEN,
    "validate_definition": _WRITTEN,
    "compare_definition": _WRITTEN,
    "replace_definition": _WRITTEN,
    "put_agent": {JSON: _AGENT, "application/yaml": {"type": "string", "description": "The same as YAML."}},
    "put_rules": _RULES,
    "put_pipeline_rules": _RULES,
    "check_rules": _RULES,
    "backtest_rules": _RULES,
    "upload_file": {"multipart/form-data": _FILE},
    "put_script": {"text/x-python": {"type": "string", "description": "The script's text, in UTF-8, at most 1 MB."}},
}
# Operations that do not answer with a view, by media type.
ANSWERS: dict[str, dict[str, Spec]] = {
    "get_definition": {"application/yaml": {"type": "string"}, JSON: _DEFINITION},
    "get_agent": {
        JSON: {"$ref": "#/components/schemas/LibraryAgent"},
        "application/yaml": {"type": "string", "description": "The text alone."},
    },
    "get_rules": _RULES_SHOWN,
    "get_pipeline_rules": _RULES_SHOWN,
    "get_script": {"text/plain": {"type": "string"}},
    "get_run_input": {JSON: _ANY},
    "download_artifact": {"application/octet-stream": {"type": "string", "format": "binary"}},
    "get_artifact_content": {JSON: _ANY, "text/plain": {"type": "string"}},
    "download_logs": {"text/plain": {"type": "string"}},
    "stream_run": {"text/event-stream": {"type": "string"}},
    "stream_changes": {"text/event-stream": {"type": "string"}},
}
_KEY: Spec = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "description": "Yours, to be able to send the request again: the same key and body get the same answer.",
    "schema": {"type": "string", "maxLength": 255, "pattern": "^[!-~]{1,255}$"},
}
_LOCATION: Spec = {"Location": {"description": "Where it is.", "schema": {"type": "string"}}}
_ETAG: Spec = {"ETag": {"description": "Names the revision; send it as If-Match.", "schema": {"type": "string"}}}
_VERSIONED = frozenset(
    {
        *("create_pipeline", "get_pipeline", "update_pipeline", "get_definition", "replace_definition"),
        *("get_agent", "put_agent"),
        *("get_rules", "put_rules", "get_pipeline_rules", "put_pipeline_rules", "delete_pipeline_rules"),
        *("create_channel", "get_channel", "update_channel"),
    }
)
# Operations by which somebody comes in.
LETTING_IN = frozenset({"sign_in", "begin_sign_in", "finish_sign_in", "preview_invitation", "accept_invitation"})
# What can go wrong besides what the shape of an operation says.
ALSO: dict[str, set[int]] = {
    "verify_events": {404},
    "get_rule_version": {404},
    "diff_rule_versions": {404},
    "sign_in": {413},
    "sign_out": {403},
    "undo_rollback": {410},
    "preview_invitation": {410},
    "accept_invitation": {410},
    "begin_sign_in": {502},
    "finish_sign_in": {502},
}
SECURITY: Spec = {
    "bearer": {"type": "http", "scheme": "bearer", "description": "A token, for programs."},
    "session": {"type": "apiKey", "in": "cookie", "name": COOKIE, "description": "A session, for browsers."},
}


def describe(operation: Spec, route: APIRoute, method: str) -> None:
    """Complete what FastAPI says of an operation."""
    name = route.endpoint.__name__
    _describe_access(operation, name)
    _describe_request(operation, name, method)
    _describe_answer(operation, name)
    _describe_errors(operation, name, method)


def _describe_access(operation: Spec, name: str) -> None:
    allowed = PERMISSIONS[name]
    operation["security"] = [] if allowed is None else [{scheme: []} for scheme in SECURITY]
    if allowed is not None:
        operation["x-roles"] = sorted(allowed.roles | {"admin"})
        operation["x-scopes"] = sorted(allowed.scopes)


def _describe_request(operation: Spec, name: str, method: str) -> None:
    if name in BODIES:
        content: Spec = {media: {"schema": schema} for media, schema in BODIES[name].items()}
        body: Spec = {"required": True, "content": content}
        operation["requestBody"] = body
    if name in REQUESTS:
        operation["requestBody"]["content"][JSON]["example"] = REQUESTS[name]
    if method not in SAFE and method != "DELETE" and name not in UNKEYED:
        operation.setdefault("parameters", []).append(_KEY)


def _describe_answer(operation: Spec, name: str) -> None:
    status, answer = next((status, told) for status, told in operation["responses"].items() if status.startswith("2"))
    if name in ANSWERS:
        answer["content"] = {media: {"schema": schema} for media, schema in ANSWERS[name].items()}
    example = RESPONSES[name]
    if example is not None:
        first = next(iter(answer["content"].values()))
        named = type(example).__name__ if isinstance(example, View) else operation["operationId"]
        first["examples"] = {"story": {"$ref": f"#/components/examples/{named}"}}
    if status == "201" and name not in STREAMED:
        answer["headers"] = _LOCATION
    if name in _VERSIONED:
        answer["headers"] = {**answer.get("headers", {}), **_ETAG}


def examples() -> Spec:
    """Every answer once, however many operations give it."""
    found: Spec = {}
    for name, example in RESPONSES.items():
        if isinstance(example, View):
            found[type(example).__name__] = {"value": example.model_dump(mode="json")}
        elif example is not None:
            found[camel(name)] = {"value": example}
    return dict(sorted(found.items()))


def _describe_errors(operation: Spec, name: str, method: str) -> None:
    statuses = {400, 421, 500, 503}
    parameters = {p["name"] for p in operation.get("parameters", [])}
    if PERMISSIONS[name] is not None or name in LETTING_IN:
        statuses |= {401, 403, 429}
    if "path" in {parameter["in"] for parameter in operation.get("parameters", [])}:
        statuses.add(404)
    if parameters or "requestBody" in operation:
        statuses.add(422)
    if "requestBody" in operation:
        statuses |= {413, 415}
    if method not in SAFE and name not in (
        "sign_in",
        "sign_out",
        "validate_definition",
        "compare_definition",
        "check_rules",
    ):
        statuses |= {404, 409, 413}
    if "If-Match" in parameters:
        statuses.add(412)
    for status in sorted(statuses | ALSO.get(name, set())):
        operation["responses"][str(status)] = _problem(status)


def _problem(status: int) -> Spec:
    title = problems.KINDS[problems.OF_STATUS[status]][1]
    return {
        "description": title,
        "content": {problems.MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}},
    }
