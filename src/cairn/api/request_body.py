"""Request bodies: limited in size while they are read, and decoded strictly."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import Request
from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from cairn.api.parameters import Text
from cairn.api.problems import RequestRejected, location_of
from cairn.documents import MAX_JSON_BYTES, MAX_YAML_BYTES, DocumentError, SourceMap, Value, decode_json, decode_yaml
from cairn.services.errors import TooLarge

JSON = "application/json"
YAML = frozenset({"application/yaml", "application/x-yaml", "text/yaml", "text/x-yaml"})
Id = Annotated[
    str,
    StringConstraints(pattern=r"^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$"),
    Field(json_schema_extra={"format": "uuid"}),
]
Digest = Annotated[
    Text | None,
    Field(description="Digest of the content you have seen. If the content has changed, the response is 409."),
]


class RequestBody(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


@dataclass(frozen=True, slots=True)
class DecodedBody:
    """A decoded document, with source positions if it is YAML."""

    value: Value
    positions: SourceMap | None = None


class BoundedRequest(Request):
    """A request whose body is limited in size and decoded by the strict JSON decoder."""

    _decoded: Value
    _body: bytes

    @property
    def media_type(self) -> str:
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()

    @property
    def is_yaml(self) -> bool:
        return self.media_type in YAML

    async def read(self, limit: int = MAX_JSON_BYTES) -> bytes:
        """The complete body. Rejected as soon as it exceeds the limit."""
        if hasattr(self, "_body"):
            return self._body
        announced = self.headers.get("content-length", "")
        if announced.isdecimal() and int(announced) > limit:
            raise TooLarge(limit)
        chunks: list[bytes] = []
        size = 0
        async for chunk in self.stream():
            size += len(chunk)
            if size > limit:
                raise TooLarge(limit)
            chunks.append(chunk)
        self._body = b"".join(chunks)
        return self._body

    async def body(self) -> bytes:
        return await self.read()

    async def json(self) -> Any:
        if not hasattr(self, "_decoded"):
            self._decoded = decoded(await self.read())
        return self._decoded

    async def check_json(self) -> None:
        """Decode the body now, so that later uses can't fail."""
        if await self.read():
            self.expect(JSON)
            await self.json()

    async def document(self) -> DecodedBody:
        """A definition, as YAML or JSON by its media type."""
        text = await self.read(MAX_YAML_BYTES if self.is_yaml else MAX_JSON_BYTES)
        if not self.is_yaml:
            self.expect(JSON, *sorted(YAML)[:1])
            return DecodedBody(await self.json())
        try:
            value, positions = decode_yaml(text)
        except DocumentError as error:
            raise unreadable("YAML", error) from None
        return DecodedBody(value, positions)

    def expect(self, *media_types: str) -> None:
        media_type = self.media_type
        if media_type not in media_types and not (media_type.endswith("+json") and JSON in media_types):
            problem = f"{media_type} is not supported here" if media_type else "The body has no Content-Type"
            raise RequestRejected("unsupported-media-type", f"{problem}. Send {' or '.join(media_types)}.")


def decoded(body: bytes) -> Value:
    try:
        return decode_json(body)
    except DocumentError as error:
        raise unreadable("JSON", error) from None


def unreadable(language: str, error: DocumentError) -> RequestRejected:
    """A refused body. The error, with its location, says why."""
    return RequestRejected("invalid-body", f"The body is not valid {language}.", [location_of(error)])
