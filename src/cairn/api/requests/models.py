"""Request bodies for models."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from cairn.api.request_body import RequestBody


class TestModelRequest(RequestBody):
    __test__ = False  # keeps pytest from collecting a class with this name

    model: Annotated[
        str | None, Field(min_length=1, max_length=200, description="`provider:model`. Default: the default model.")
    ] = None
