"""Bodies of requests: bounded while they are read, decoded strictly."""

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
Digest = Annotated[Text | None, Field(description="Of what was looked at; if that has changed, the answer is 409.")]


class RequestBody(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


@dataclass(frozen=True, slots=True)
class DecodedBody:
    """A decoded document, with source positions where it is YAML."""

    value: Value
    positions: SourceMap | None = None


class BoundedRequest(Request):
    """A request whose body is read up to a limit, and whose JSON is read by the one strict decoder."""

    _decoded: Value
    _body: bytes

    @property
    def media_type(self) -> str:
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()

    @property
    def is_yaml(self) -> bool:
        return self.media_type in YAML

    async def read(self, limit: int = MAX_JSON_BYTES) -> bytes:
        """The whole body; refused as soon as it is known to be longer than the limit."""
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
        """Decode it now, so that whoever uses it later cannot fail."""
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
        taken = self.media_type
        if taken not in media_types and not (taken.endswith("+json") and JSON in media_types):
            said = f"{taken} is not taken here" if taken else "The body has no Content-Type"
            raise RequestRejected("unsupported-media-type", f"{said}; send {' or '.join(media_types)}.")


def decoded(body: bytes) -> Value:
    try:
        return decode_json(body)
    except DocumentError as error:
        raise unreadable("JSON", error) from None


def unreadable(language: str, error: DocumentError) -> RequestRejected:
    return RequestRejected(
        "invalid-body", f"The body is not {language} that can be taken: {error}.", [location_of(error)]
    )
