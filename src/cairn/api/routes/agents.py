"""The agent library: agents that checkpoints refer to."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import Query, Request, Response
from starlette.concurrency import run_in_threadpool

from cairn.api.definition_documents import read_definition
from cairn.api.dependencies import CurrentActor, Services
from cairn.api.examples import agents as examples
from cairn.api.operations import DEFINE, READ, Media, operation, operation_router
from cairn.api.parameters import AgentName, IfMatch, Paging, Text, etag, revision_of
from cairn.api.request_body import JSON
from cairn.definitions import agent_schema
from cairn.services.agent_library.views import (
    LibraryAgent,
    LibraryAgentPage,
    LibraryAgentRevisionPage,
    SavedLibraryAgent,
)

router = operation_router("/api", "Agent library")
Search = Annotated[Text | None, Query(max_length=200, description="Words from its name, title, description or role.")]
Format = Annotated[Literal["json", "yaml"], Query(description="`yaml` returns the text to edit and save again.")]
_AGENT_MEDIA: Media = {
    JSON: {
        "type": "object",
        "additionalProperties": True,
        "description": "An agent, as described by `/api/definitions/agent-schema`.",
    },
    "application/yaml": {"type": "string", "description": "An agent as YAML."},
}
_AGENT_TEXT_MEDIA: Media = {
    JSON: {"$ref": "#/components/schemas/LibraryAgent"},
    "application/yaml": {"type": "string", "description": "Only the text."},
}


@router.get("/agents")
@operation(READ, response_example=examples.agents)
def list_agents(services: Services, paging: Paging, search: Search = None) -> LibraryAgentPage:
    """List built-in and saved agents by name, with the pipelines that use them."""
    return services.agent_library_queries.list_agents(search, paging.limit, paging.cursor)


@router.get("/definitions/agent-schema")
@operation(READ, response_example=examples.schema)
def get_agent_schema() -> dict[str, Any]:
    """Get the JSON Schema of a library agent, for editors."""
    return agent_schema()


@router.get("/agents/{name}", response_model=LibraryAgent)
@operation(READ, response_media=_AGENT_TEXT_MEDIA, etag=True, response_example=examples.agent)
def get_agent(name: AgentName, response: Response, services: Services, format: Format = "json") -> Any:
    """Get an agent. Its ETag is the revision, which is 0 for a built-in agent."""
    if format == "yaml":
        text, revision = services.agent_library_queries.get_text(name)
        return Response(text, media_type="application/yaml", headers={"ETag": etag(revision)})
    view = services.agent_library_queries.get_agent(name)
    response.headers["ETag"] = etag(view.revision)
    return view


@router.put("/agents/{name}")
@operation(
    DEFINE,
    request_media=_AGENT_MEDIA,
    etag=True,
    request_example=examples.document,
    response_example=examples.saved_agent,
)
async def put_agent(
    name: AgentName,
    request: Request,
    response: Response,
    services: Services,
    actor: CurrentActor,
    if_match: IfMatch = None,
) -> SavedLibraryAgent:
    """Create or replace an agent. Only runs created afterwards use it."""
    document = await read_definition(request)
    await services.agent_library.save(
        name, document.value, positions=document.positions, if_match=revision_of(if_match), actor=actor
    )
    view: LibraryAgent = await run_in_threadpool(services.agent_library_queries.get_agent, name)
    response.headers["ETag"] = etag(view.revision)
    warnings: list[str] = await run_in_threadpool(services.pipelines.errors_with_agent, name)
    return SavedLibraryAgent(**dict(view), warnings=warnings)


@router.delete("/agents/{name}", status_code=204)
@operation(DEFINE)
async def delete_agent(name: AgentName, services: Services, actor: CurrentActor, if_match: IfMatch = None) -> None:
    """Delete a saved agent. Fails while pipelines use it, unless a built-in agent has the same name."""
    await services.agent_library.remove(name, if_match=revision_of(if_match), actor=actor)


@router.get("/agents/{name}/revisions")
@operation(READ, response_example=examples.revisions)
def list_agent_revisions(name: AgentName, services: Services, paging: Paging) -> LibraryAgentRevisionPage:
    """List the revisions of an agent, newest first."""
    return services.agent_library_queries.list_revisions(name, paging.limit, paging.cursor)
