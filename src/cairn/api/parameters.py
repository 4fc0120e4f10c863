"""Parameters that many operations share."""

from __future__ import annotations

import inspect
import re
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeGuard, get_type_hints

from fastapi import Depends, Header, Path, Query
from pydantic import AfterValidator, AwareDatetime, BeforeValidator

from cairn.services.errors import InvalidInput

_UUID = {"format": "uuid"}
_UUID_PATTERN = r"^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$"
_ID = re.compile(_UUID_PATTERN)


def is_id(value: object) -> TypeGuard[str]:
    return isinstance(value, str) and _ID.fullmatch(value) is not None


def grouped(group: type[Any]) -> Any:
    """A dependency that groups parameters. FastAPI would create the class in a thread."""

    async def create(**values: Any) -> Any:
        return group(**values)

    hints = get_type_hints(group, include_extras=True)
    parameters = [
        parameter.replace(annotation=hints[name], kind=inspect.Parameter.KEYWORD_ONLY)
        for name, parameter in inspect.signature(group).parameters.items()
    ]
    create.__signature__ = inspect.Signature(parameters)
    return Depends(create)


def storable(text: str) -> str:
    """Reject NUL, which not every database can store."""
    if "\0" in text:
        raise ValueError("the character U+0000 can't be stored")
    return text


def iso_time(value: object) -> object:
    """Reject numbers, which pydantic would read as seconds since 1970: `2030` is not a year to it."""
    if isinstance(value, int | float) or (isinstance(value, str) and re.fullmatch(r"\s*[-+]?[\d.]+\s*", value)):
        raise ValueError("expected a date and time such as 2026-03-16T09:30:00Z")
    return value


Text = Annotated[str, AfterValidator(storable)]
Time = Annotated[AwareDatetime, BeforeValidator(iso_time)]

IfMatch = Annotated[
    str | None, Header(alias="If-Match", description="The ETag you have read. 412 if it has changed since.")
]

PipelineId = Annotated[str, Path(description="Id of the pipeline.", json_schema_extra=_UUID)]
CheckpointId = Annotated[str, Path(description="Id of the checkpoint.", json_schema_extra=_UUID)]
RunId = Annotated[str, Path(description="Id of the run.", json_schema_extra=_UUID)]
ExecutionId = Annotated[str, Path(description="Id of the execution.", json_schema_extra=_UUID)]
ApprovalId = Annotated[str, Path(description="Id of the approval.", json_schema_extra=_UUID)]
RollbackId = Annotated[str, Path(description="Id of the rollback.", json_schema_extra=_UUID)]
InvitationId = Annotated[str, Path(description="Id of the invitation.", json_schema_extra=_UUID)]
TokenId = Annotated[str, Path(description="Id of the token.", json_schema_extra=_UUID)]
SessionId = Annotated[str, Path(description="Id of the session.", json_schema_extra=_UUID)]
DelegationId = Annotated[str, Path(description="Id of the delegation.", json_schema_extra=_UUID)]
DirectoryName = Annotated[
    Text, AfterValidator(str.lower), Path(max_length=200, description="Name of the user or the group.")
]
ActionTypeName = Annotated[Text, Path(max_length=300, description="Name of the action type.")]
SecretName = Annotated[Text, Path(max_length=200, description="Name of the secret.")]
ToolName = Annotated[Text, Path(max_length=300, description="Name of the tool: `mcp:SERVER/TOOL`, or `web_search`.")]
AgentName = Annotated[Text, Path(max_length=200, description="Name of the agent in the library.")]
RecordId = Annotated[str, Path(description="Id of the artifact's record.", json_schema_extra=_UUID)]

IdQuery = Annotated[str | None, Query(pattern=_UUID_PATTERN, json_schema_extra=_UUID)]
UserQuery = Annotated[
    Annotated[Text, AfterValidator(str.lower)] | None, Query(max_length=200, description="Only this user.")
]
Search = Annotated[Text, Query(max_length=200, description="Part of a name or email address.")]
Limit = Annotated[int, Query(ge=1, le=500, description="Maximum number of items.")]
Order = Annotated[Literal["oldest", "newest"], Query(description="What to return first.")]
Cursor = Annotated[
    str | None, Query(max_length=500, description="`next_cursor` of the previous page. Omit it for the first page.")
]


@dataclass(frozen=True, slots=True)
class PageParameters:
    limit: Limit = 50
    cursor: Cursor = None


Paging = Annotated[PageParameters, grouped(PageParameters)]
Force = Annotated[bool, Query(description="Cancel runs that would prevent this.")]


def etag(revision: int) -> str:
    return f'"{revision}"'


def revision_of(if_match: str | None) -> int | None:
    """The revision in an `If-Match` header. None matches any revision."""
    if if_match is None or if_match.strip() == "*":
        return None
    revision = if_match.strip().removeprefix("W/").strip('"')
    if not (revision.isascii() and revision.isdecimal() and len(revision) < 10):
        raise InvalidInput([("If-Match", 'Send the ETag you have read, such as "3".')])
    return int(revision)
