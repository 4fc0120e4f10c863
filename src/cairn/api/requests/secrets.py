"""Request bodies for secrets."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from cairn.api.request_body import RequestBody


class PutSecretRequest(RequestBody):
    value: Annotated[str, Field(min_length=4, max_length=65_536, json_schema_extra={"writeOnly": True})]
