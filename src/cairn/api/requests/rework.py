"""Request bodies for rework."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from cairn.api.parameters import Text
from cairn.api.request_body import RequestBody


class CreateReworkRequest(RequestBody):
    """The checkpoint to do again, and why."""

    checkpoint: Annotated[Text, Field(min_length=1, description="Key or id of an earlier checkpoint of the run.")]
    prompt: Annotated[Text, Field(description="What to do. The next attempt receives this text.")] = ""
    reason: Annotated[Text, Field(description="Reason for the rework.")] = ""


class RerunRequest(RequestBody):
    reason: Annotated[Text, Field(description="Reason for the rerun.")] = ""
