"""The OpenAPI document: FastAPI's description of the routes, completed with what each operation declares."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from cairn.api import problems
from cairn.api.authentication import COOKIE, SAFE
from cairn.api.operations import Operation, OperationRoute, operation_id
from cairn.api.request_body import JSON
from cairn.services.view import View

Spec = dict[str, Any]

TAGS = {
    "Session": "Sign in and out, and the current session.",
    "Your account": "Your display name and your own tokens.",
    "People": "Users, groups and delegations.",
    "Invitations": "Links with which users set a password and sign in.",
    "Tokens": "API tokens of all users.",
    "Sessions": "Open sessions.",
    "Secrets": "Secrets for the server. Their values are never returned.",
    "Pipelines": "Create, change, delete and restore pipelines.",
    "Definitions": "Definitions as text: revisions, differences, validation and templates.",
    "Agent library": "Agents that checkpoints refer to.",
    "Checkpoints": "Single checkpoints of a definition.",
    "Scripts": "Script files of a pipeline.",
    "Runs": "Start, pause, resume, cancel and restart runs.",
    "Executions": "Submit, approve, retry and cancel executions.",
    "Costs": "Model usage and budgets.",
    "Actions": "What agents, scripts and tools propose to do outside of Cairn, and what became of it.",
    "Approvals": "Pending approvals and decisions.",
    "Models": "Models and their providers.",
    "Tools": "Tools of MCP servers, and what they may do without approval.",
    "Rules": "Rules that require approval or approve automatically.",
    "Notifications": "Channels, deliveries and notification preferences.",
    "Rollbacks": "Roll back a run, and undo a rollback.",
    "Rework": "Rework, reruns and lineage.",
    "Artifacts": "Artifacts and their content.",
    "Events": "The audit log and its verification.",
    "Streams": "Live streams.",
    "Health": "Health of the server, its data and its machine.",
}
_KEY: Spec = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "description": "A key of your choice, to repeat a request safely: the same key and body get the same response.",
    "schema": {"type": "string", "maxLength": 255, "pattern": "^[!-~]{1,255}$"},
}
_LOCATION: Spec = {"Location": {"description": "Path of the new resource.", "schema": {"type": "string"}}}
_ETAG: Spec = {"ETag": {"description": "The revision. Send it back as If-Match.", "schema": {"type": "string"}}}
SECURITY: Spec = {
    "bearer": {"type": "http", "scheme": "bearer", "description": "A token, for programs."},
    "session": {"type": "apiKey", "in": "cookie", "name": COOKIE, "description": "A session, for browsers."},
}


def install(app: FastAPI) -> None:
    def openapi() -> Spec:
        if app.openapi_schema is None:
            app.openapi_schema = build(app)
        return app.openapi_schema

    app.openapi = openapi


def build(app: FastAPI) -> Spec:
    spec = get_openapi(
        title=app.title,
        version=app.version,
        summary=app.summary,
        routes=app.routes,
        tags=[{"name": name, "description": description} for name, description in TAGS.items()],
    )
    described = {
        operation["operationId"]: (operation, method.upper())
        for methods in spec["paths"].values()
        for method, operation in methods.items()
    }
    examples: Spec = {}  # each response once, however many operations return it
    for route in app.routes:
        if isinstance(route, OperationRoute):
            operation, method = described[operation_id(route)]
            _describe_access(operation, route.operation)
            _describe_request(operation, route.operation, method)
            _describe_response(operation, route.operation, examples)
            _describe_errors(operation, route.operation, method)
    components = spec["components"]
    components["securitySchemes"] = SECURITY
    components["examples"] = dict(sorted(examples.items()))
    for unused in ("HTTPValidationError", "ValidationError"):
        components["schemas"].pop(unused, None)
    template = "#/components/schemas/{model}"
    problem = problems.Problem.model_json_schema(mode="serialization", ref_template=template)
    components["schemas"].update(problem.pop("$defs"), Problem=problem)
    components["schemas"] = dict(sorted(components["schemas"].items()))
    return spec


def _describe_access(operation: Spec, declared: Operation) -> None:
    allowed = declared.permission
    operation["security"] = [] if allowed is None else [{scheme: []} for scheme in SECURITY]
    if allowed is not None:
        operation["x-roles"] = sorted(allowed.roles | {"admin"})
        operation["x-scopes"] = sorted(allowed.scopes)


def _describe_request(operation: Spec, declared: Operation, method: str) -> None:
    if declared.request_media is not None:
        content: Spec = {media: {"schema": schema} for media, schema in declared.request_media.items()}
        body: Spec = {"required": True, "content": content}
        operation["requestBody"] = body
    if declared.request_example is not None:
        operation["requestBody"]["content"][JSON]["example"] = declared.request_example()
    if method not in SAFE and method != "DELETE" and declared.idempotent:
        operation.setdefault("parameters", []).append(_KEY)


def _describe_response(operation: Spec, declared: Operation, examples: Spec) -> None:
    status, response = next(
        (status, response) for status, response in operation["responses"].items() if status.startswith("2")
    )
    if declared.response_media is not None:
        response["content"] = {media: {"schema": schema} for media, schema in declared.response_media.items()}
    if declared.response_example is not None:
        name, value = _example(operation["operationId"], declared.response_example())
        if examples.setdefault(name, {"value": value}) != {"value": value}:
            raise ValueError(
                f"The example of {name} in {operation['operationId']} differs from those of other operations."
            )
        first = next(iter(response["content"].values()))
        first["examples"] = {"story": {"$ref": f"#/components/examples/{name}"}}
    if status == "201" and not declared.streams_body:
        response["headers"] = _LOCATION
    if declared.etag:
        response["headers"] = {**response.get("headers", {}), **_ETAG}


def _example(operation: str, example: Any) -> tuple[str, Any]:
    """Views are named after their class, anything else after its operation."""
    if isinstance(example, View):
        return type(example).__name__, example.model_dump(mode="json")
    return operation, example


def _describe_errors(operation: Spec, declared: Operation, method: str) -> None:
    statuses = {400, 421, 500, 503, *declared.errors}
    parameters = {parameter["name"]: parameter["in"] for parameter in operation.get("parameters", [])}
    if declared.permission is not None:
        statuses |= {401, 403, 429}
    if "path" in parameters.values():
        statuses.add(404)
    if parameters or "requestBody" in operation:
        statuses.add(422)
    if "requestBody" in operation:
        statuses |= {413, 415}
    if method not in SAFE and declared.idempotent:  # operations with a key change something
        statuses |= {404, 409, 413}
    if "If-Match" in parameters:
        statuses.add(412)
    for status in sorted(statuses):
        operation["responses"][str(status)] = _problem(status)


def _problem(status: int) -> Spec:
    title = problems.KINDS[problems.KIND_BY_STATUS[status]][1]
    return {
        "description": title,
        "content": {problems.MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}},
    }
