"""Request bodies for runs."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from cairn.api.parameters import Text
from cairn.api.request_body import Id, RequestBody


class CreateRunRequest(RequestBody):
    pipeline_id: Id
    input: Any = Field(default=None, description="The run's JSON input.")
    original_prompt: Annotated[Text | None, Field(description="What to do. Default: the prompt of the pipeline.")] = (
        None
    )
    start: Annotated[bool, Field(description="Start at once. If false, the run stays `not_started`.")] = True
    test: Annotated[bool, Field(description="A test run gets no version number.")] = False


class RestartRunRequest(RequestBody):
    pass_number: Annotated[
        int | None, Field(ge=1, le=2**31, description="The current pass, to prevent restarting twice.")
    ] = None


class SetBudgetRequest(RequestBody):
    """Limits of a run. Omitted limits come from the definition."""

    max_cost_usd: Annotated[float | None, Field(gt=0, le=10**9, description="Maximum cost in US dollars.")] = None
    max_tokens: Annotated[
        int | None, Field(ge=1, le=10**15, description="Maximum number of input and output tokens.")
    ] = None
    max_calls: Annotated[int | None, Field(ge=1, le=10**9, description="Maximum number of model calls.")] = None
