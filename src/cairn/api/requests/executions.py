"""Request bodies for executions."""

from __future__ import annotations

from typing import Annotated, Any, Self

from pydantic import Field, model_validator

from cairn.api.parameters import Text
from cairn.api.request_body import Digest, Id, RequestBody
from cairn.api.requests.approvals import OnRepeat


class StartExecutionRequest(RequestBody):
    """An execution, by its id or by its run and checkpoint."""

    execution_id: Id | None = None
    run_id: Id | None = None
    checkpoint_id: Id | None = None

    @model_validator(mode="after")
    def require_one_identifier(self) -> Self:
        has_checkpoint = self.run_id is not None and self.checkpoint_id is not None
        if (self.execution_id is not None) == has_checkpoint:
            raise ValueError("Send either `execution_id`, or `run_id` and `checkpoint_id`")
        return self


class ApproveRequest(RequestBody):
    digest: Digest = None
    feedback: Text = ""
    modified_params: dict[str, Any] | None = Field(default=None, description="Parameters to approve an action with.")
    on_repeat: OnRepeat | None = Field(default=None, description="What to do if an action repeats earlier ones.")


class ReviseRequest(RequestBody):
    feedback: Annotated[Text, Field(description="What to change. Optional when you reject a start.")] = ""
    digest: Digest = None


class SubmitFormRequest(RequestBody):
    fields: Annotated[dict[str, Any], Field(description="Answers by field name. For a file field, the upload id.")]
    digest: Digest = None


class RetryExecutionRequest(RequestBody):
    attempt_number: Annotated[int | None, Field(ge=1, le=2**31, description="The attempt that failed.")] = None
