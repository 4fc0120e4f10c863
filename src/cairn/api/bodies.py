"""What requests carry. Unknown fields and wrong types are refused."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

from cairn.api.parameters import Text
from cairn.services.rollbacks.views import RollbackType

Id = Annotated[
    str,
    StringConstraints(pattern=r"^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$"),
    Field(json_schema_extra={"format": "uuid"}),
]
Digest = Annotated[Text | None, Field(description="Of what was looked at; if that has changed, the answer is 409.")]


class Body(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class StartRun(Body):
    pipeline_id: Id
    input: Any = Field(default=None, description="The run's JSON input.")
    original_prompt: Annotated[
        Text | None, Field(description="What is asked for; without one, the pipeline's own.")
    ] = None
    start: Annotated[bool, Field(description="Begin at once; false leaves it `not_started`.")] = True
    test: Annotated[bool, Field(description="A test run takes no version number.")] = False


class TestModel(Body):
    __test__ = False  # pytest takes it for a test by its name

    model: Annotated[
        str | None, Field(min_length=1, max_length=200, description="`provider:model`; without one, the default.")
    ] = None


class RestartRun(Body):
    pass_number: Annotated[int | None, Field(ge=1, le=2**31, description="The pass that is left.")] = None


class SetBudget(Body):
    """What a run may use; what is left out is as the definition says."""

    max_cost_usd: Annotated[float | None, Field(gt=0, le=10**9, description="Cost in US dollars.")] = None
    max_tokens: Annotated[int | None, Field(ge=1, le=10**15, description="Tokens in and out.")] = None
    max_calls: Annotated[int | None, Field(ge=1, le=10**9, description="Calls of a model.")] = None


class StartExecution(Body):
    """An execution by its id, or by its run and checkpoint."""

    execution_id: Id | None = None
    run_id: Id | None = None
    checkpoint_id: Id | None = None

    @model_validator(mode="after")
    def names_one(self) -> Self:
        by_place = self.run_id is not None and self.checkpoint_id is not None
        if (self.execution_id is not None) == by_place:
            raise ValueError("Give `execution_id`, or `run_id` with `checkpoint_id`")
        return self


class Approve(Body):
    digest: Digest = None
    feedback: Text = ""
    modified_params: dict[str, Any] | None = Field(default=None, description="Of an action, in place of its own.")


class Revise(Body):
    feedback: Annotated[Text, Field(description="What has to change; not needed to refuse a start.")] = ""
    digest: Digest = None


class Submit(Body):
    fields: Annotated[dict[str, Any], Field(description="Answers by field name; a file field takes an upload id.")]
    digest: Digest = None


class RetryExecution(Body):
    attempt: Annotated[int | None, Field(ge=1, le=2**31, description="The attempt that failed.")] = None


class Rework(Body):
    """What is to be done again, and why."""

    checkpoint: Annotated[Text, Field(min_length=1, description="Key or id of an earlier checkpoint of the run.")]
    prompt: Annotated[Text, Field(description="What is to be done now; whoever does it again sees these words.")] = ""
    reason: Annotated[Text, Field(description="Why the work is sent back.")] = ""


class Rerun(Body):
    reason: Annotated[Text, Field(description="Why it is done again.")] = ""


class Decide(Body):
    digest: Digest = None
    feedback: Text = ""
    reason: Annotated[Text, Field(description="Why; required to reject.")] = ""
    fields: dict[str, Any] | None = Field(default=None, description="To answer a form.")
    modified_params: dict[str, Any] | None = Field(
        default=None, description="To approve an action with these in place of its own; null takes one away."
    )

    @property
    def words(self) -> str:
        return self.reason or self.feedback


class Modify(Body):
    modified_params: Annotated[dict[str, Any], Field(description="Those that are to be others; null takes one away.")]


class Assign(Body):
    """Whom to hand it over to."""

    to: Annotated[list[Text], Field(min_length=1, max_length=50, description="Persons, addresses, roles or groups.")]
    reason: Text = ""


class AddComment(Body):
    text: Text


class BatchItem(Body):
    approval_id: Id
    digest: Digest = None


class DecideBatch(Body):
    """The same decision on several approvals of one kind; each is decided or refused by itself."""

    decision: Literal["approve", "revise", "reject"]
    feedback: Annotated[Text, Field(description="Why; required to send back and to reject.")] = ""
    items: Annotated[list[BatchItem], Field(min_length=1, max_length=200)]


Decision = Literal[
    "approve", "revise", "reject", "refuse", "answer", "decline", "accept", "feedback", "retry", "restart", "fail"
]


class RollBack(Body):
    """A checkpoint-level rollback stays in its run; a run-level one goes back to an earlier run."""

    rollback_type: RollbackType
    source_run_id: Id
    target_run_id: Id | None = None
    target_checkpoint_position: Annotated[
        int | None, Field(ge=-1, le=2**31, description="The last checkpoint that is kept; -1 keeps none.")
    ] = None
    target_checkpoint_id: Id | None = None
    user_reason: Text | None = None
    rollback_id: Annotated[Id | None, Field(description="Yours, to be able to send the request again.")] = None

    @model_validator(mode="after")
    def names_target(self) -> Self:
        if (self.target_checkpoint_position is None) == (self.target_checkpoint_id is None):
            raise ValueError("Give `target_checkpoint_position` or `target_checkpoint_id`")
        if (self.rollback_type == "run_level") != (self.target_run_id is not None):
            raise ValueError("`target_run_id` goes with `run_level`, and is required there")
        return self


class Revert(Body):
    revision: Annotated[int, Field(ge=1, le=2**31)]


class CheckpointOrder(Body):
    checkpoint_order: list[Id]


class StopAll(Body):
    """The emergency stop of automatic approvals."""

    stopped: bool
    reason: Annotated[Text, Field(max_length=2000, description="Required to stop.")] = ""


class Review(Body):
    """What a person says of an automatic approval afterwards."""

    agrees: bool
    comment: Annotated[Text, Field(max_length=10_000)] = ""
