"""Request bodies for pipelines."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from cairn.api.request_body import Id, RequestBody


class RevertRequest(RequestBody):
    revision: Annotated[int, Field(ge=1, le=2**31)]


class CheckpointOrderRequest(RequestBody):
    checkpoint_order: list[Id]
