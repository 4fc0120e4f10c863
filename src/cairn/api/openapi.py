"""What the API offers, in OpenAPI. `python -m cairn.api.openapi` prints it."""

from __future__ import annotations

import re
import sys
from typing import Any, cast

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from fastapi.routing import APIRoute

from cairn.api.problems import Problem

TAGS = {
    "Entry": "Signing in, and the server's health.",
    "Your account": "How you are shown, and your own tokens.",
    "People": "Users, groups, and who decides for whom.",
    "Letting in": "Invitations, tokens and sessions.",
    "Secrets": "Secrets that the server uses and never shows.",
    "Pipelines": "Pipelines: defined, changed, deleted, restored.",
    "Definitions": "Definitions as texts: history, differences, checks, templates.",
    "Agent library": "Agents that checkpoints refer to.",
    "Checkpoints": "The steps of a definition, one by one.",
    "Scripts": "Script files of a pipeline.",
    "Runs": "Runs: started, paused, resumed, cancelled, restarted.",
    "Executions": "Executions: filled in, approved, tried again.",
    "Costs": "What models have used, and what they may use.",
    "Approvals": "The queue of questions to people, and their decisions.",
    "Models": "Models that agents think with.",
    "Rules": "When people are asked, and when an approval is given without them.",
    "Notifications": "Where people are told, what was sent, and what one wants to be told.",
    "Rollback": "Going back, and undoing that.",
    "Rework": "Work that is sent back or done again, and what was made from what.",
    "Artifacts": "What was made.",
    "Trail": "What happened, and the proof of it.",
    "Streams": "Live streams.",
    "Health": "How the server, its data and its machine do.",
}


def operation_id(route: APIRoute) -> str:
    return camel(route.name)


def camel(name: str) -> str:
    """`list_pipelines` is `listPipelines` for clients."""
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


def install(app: FastAPI) -> None:
    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            app.openapi_schema = build(app)
        return app.openapi_schema

    app.openapi = openapi


def build(app: FastAPI) -> dict[str, Any]:
    from cairn.api import describing  # with its examples: not before somebody asks

    spec = get_openapi(
        title=app.title,
        version=app.version,
        summary=app.summary,
        routes=app.routes,
        tags=[{"name": name, "description": told} for name, told in TAGS.items()],
    )
    operations = {
        operation["operationId"]: (operation, method.upper())
        for methods in spec["paths"].values()
        for method, operation in methods.items()
    }
    for route in api_routes():
        operation, method = operations[operation_id(route)]
        describing.describe(operation, route, method)
    components = spec["components"]
    components["securitySchemes"] = describing.SECURITY
    components["examples"] = describing.examples()
    for unused in ("HTTPValidationError", "ValidationError"):
        components["schemas"].pop(unused, None)
    template = "#/components/schemas/{model}"
    problem = Problem.model_json_schema(mode="serialization", ref_template=template)
    components["schemas"].update(problem.pop("$defs"), Problem=problem)
    components["schemas"] = dict(sorted(components["schemas"].items()))
    return _for_readers(spec)


_IDS = re.compile(r"\s*\((?:[A-Z]\d+[a-z]?(?:, | and | to )?)+\)")  # of requirements: for those who read the code


def _for_readers(part: Any) -> Any:
    if isinstance(part, dict):
        fields = cast("dict[str, Any]", part)
        return {name: _told(name, value) for name, value in fields.items()}
    return [_for_readers(each) for each in cast("list[Any]", part)] if isinstance(part, list) else part


def _told(name: str, value: Any) -> Any:
    is_text = name in ("description", "summary") and isinstance(value, str)
    return _IDS.sub("", value) if is_text else _for_readers(value)


def api_routes() -> list[APIRoute]:
    """Every operation of the API."""
    from cairn.api.app import ROUTERS

    return [route for router in ROUTERS for route in router.routes if isinstance(route, APIRoute)]


def main() -> None:
    from cairn.api.app import describe
    from cairn.documents import encode_json

    sys.stdout.buffer.write(encode_json(describe().openapi(), indent=True) + b"\n")


if __name__ == "__main__":
    main()
