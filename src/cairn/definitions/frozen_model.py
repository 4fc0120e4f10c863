"""The base class of all parts of a definition: parsed once, then immutable."""

from __future__ import annotations

from typing import Annotated, Any, Self, TypeAlias, cast

from pydantic import BaseModel, BeforeValidator, ConfigDict

from cairn.documents import Value

Document: TypeAlias = dict[str, Value]
JsonSchema: TypeAlias = dict[str, Any] | bool


def _integer(value: object) -> object:
    return int(value) if isinstance(value, float) else value


Count: TypeAlias = Annotated[int, BeforeValidator(_integer)]  # JSON Schema counts 3.0 and 1e20 as integers


class DefinitionModel(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True, serialize_by_alias=True)

    @classmethod
    def parse(cls, document: Document) -> Self:
        return cls.model_validate(document)

    @property
    def document(self) -> Document:
        """The document from which it was parsed. Omitted fields stay omitted."""
        return cast("Document", self.model_dump(mode="json", exclude_unset=True))
