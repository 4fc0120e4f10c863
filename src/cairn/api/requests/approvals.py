"""Request bodies for approvals."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from cairn.api.parameters import Text
from cairn.api.request_body import Digest, Id, RequestBody

OnRepeat = Literal["use_earlier", "execute_again"]


class DecideRequest(RequestBody):
    digest: Digest = None
    feedback: Text = ""
    reason: Annotated[Text, Field(description="Reason. Required to reject.")] = ""
    fields: dict[str, Any] | None = Field(default=None, description="Answers to a form.")
    modified_params: dict[str, Any] | None = Field(
        default=None, description="Parameters to approve the action with. Null removes one."
    )
    on_repeat: OnRepeat | None = Field(
        default=None,
        description="What to do if the action repeats earlier ones. Without it, approving a repeat is 409.",
    )
    override: Annotated[
        bool, Field(description="Approve as an admin, instead of the people who are asked. Requires a reason.")
    ] = False
    learn: Annotated[bool, Field(description="Show your changes of the parameters to agents as an example.")] = False

    @model_validator(mode="after")
    def require_one_explanation(self) -> Self:
        if self.reason and self.feedback and self.reason != self.feedback:
            raise ValueError("Send either `reason` or `feedback`")
        return self

    @property
    def explanation(self) -> str:
        return self.reason or self.feedback


class ModifyRequest(RequestBody):
    modified_params: Annotated[dict[str, Any], Field(description="Parameters to change. Null removes one.")]


class AssignRequest(RequestBody):
    """The new assignees of an approval."""

    assigned_to: Annotated[
        list[Text], Field(min_length=1, max_length=50, description="Usernames, email addresses, roles or groups.")
    ]
    reason: Text = ""


class AddCommentRequest(RequestBody):
    text: Text


class BatchItem(RequestBody):
    approval_id: Id
    digest: Digest = None


class DecideBatchRequest(RequestBody):
    """One decision on several approvals of one kind. Each succeeds or fails on its own.

    Actions that repeat earlier ones, and actions whose proposals read content from outside or came from a simulated
    model, can only be approved one by one.
    """

    decision: Literal["approve", "revise", "reject"]
    feedback: Annotated[Text, Field(description="Feedback. Required to request a revision and to reject.")] = ""
    on_repeat: Annotated[
        Literal["use_earlier"] | None, Field(description="Use the earlier results of actions that repeat earlier ones.")
    ] = None
    items: Annotated[list[BatchItem], Field(min_length=1, max_length=200)]


Decision = Literal[
    "approve",
    "revise",
    "reject",
    "refuse",
    "answer",
    "decline",
    "accept",
    "feedback",
    "retry",
    "restart",
    "fail",
    "happened",
    "did_not_happen",
    "send_again",
    "give_up",
]
