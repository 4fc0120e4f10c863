"""Request bodies for rollbacks."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import Field, model_validator

from cairn.api.parameters import Text
from cairn.api.request_body import Id, RequestBody
from cairn.services.rollbacks.views import RollbackType


class CreateRollbackRequest(RequestBody):
    """A checkpoint-level rollback stays in its run. A run-level rollback goes back to an earlier run."""

    rollback_type: RollbackType
    source_run_id: Id
    target_run_id: Id | None = None
    target_checkpoint_position: Annotated[
        int | None, Field(ge=-1, le=2**31, description="Position of the last checkpoint to keep. -1 keeps none.")
    ] = None
    target_checkpoint_id: Id | None = None
    user_reason: Text | None = None
    hold: bool | None = Field(
        default=None,
        description="Whether to leave the run paused. Default: if it repeats work that has executed actions.",
    )
    rollback_id: Annotated[Id | None, Field(description="Your own id, so that you can repeat the request safely.")] = (
        None
    )

    @model_validator(mode="after")
    def require_one_target(self) -> Self:
        if (self.target_checkpoint_position is None) == (self.target_checkpoint_id is None):
            raise ValueError("Send either `target_checkpoint_position` or `target_checkpoint_id`")
        if (self.rollback_type == "run_level") != (self.target_run_id is not None):
            raise ValueError("`target_run_id` is required for `run_level` and not allowed otherwise")
        return self
