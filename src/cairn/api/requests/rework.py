"""Bodies of requests about rework."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from cairn.api.parameters import Text
from cairn.api.request_body import RequestBody


class CreateReworkRequest(RequestBody):
    """What is to be done again, and why."""

    checkpoint: Annotated[Text, Field(min_length=1, description="Key or id of an earlier checkpoint of the run.")]
    prompt: Annotated[Text, Field(description="What is to be done now; whoever does it again sees these words.")] = ""
    reason: Annotated[Text, Field(description="Why the work is sent back.")] = ""


class RerunRequest(RequestBody):
    reason: Annotated[Text, Field(description="Why it is done again.")] = ""
