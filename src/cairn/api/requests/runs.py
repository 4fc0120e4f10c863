"""Bodies of requests about runs."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from cairn.api.parameters import Text
from cairn.api.request_body import Id, RequestBody


class CreateRunRequest(RequestBody):
    pipeline_id: Id
    input: Any = Field(default=None, description="The run's JSON input.")
    original_prompt: Annotated[
        Text | None, Field(description="What is asked for; without one, the pipeline's own.")
    ] = None
    start: Annotated[bool, Field(description="Begin at once; false leaves it `not_started`.")] = True
    test: Annotated[bool, Field(description="A test run takes no version number.")] = False


class RestartRunRequest(RequestBody):
    pass_number: Annotated[int | None, Field(ge=1, le=2**31, description="The pass that is left.")] = None


class SetBudgetRequest(RequestBody):
    """What a run may use; what is left out is as the definition says."""

    max_cost_usd: Annotated[float | None, Field(gt=0, le=10**9, description="Cost in US dollars.")] = None
    max_tokens: Annotated[int | None, Field(ge=1, le=10**15, description="Tokens in and out.")] = None
    max_calls: Annotated[int | None, Field(ge=1, le=10**9, description="Calls of a model.")] = None
