"""Bodies of requests about approvals."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from cairn.api.parameters import Text
from cairn.api.request_body import Digest, Id, RequestBody


class DecideRequest(RequestBody):
    digest: Digest = None
    feedback: Text = ""
    reason: Annotated[Text, Field(description="Why; required to reject.")] = ""
    fields: dict[str, Any] | None = Field(default=None, description="To answer a form.")
    modified_params: dict[str, Any] | None = Field(
        default=None, description="To approve an action with these in place of its own; null takes one away."
    )

    @property
    def explanation(self) -> str:
        return self.reason or self.feedback


class ModifyRequest(RequestBody):
    modified_params: Annotated[dict[str, Any], Field(description="Those that are to be others; null takes one away.")]


class AssignRequest(RequestBody):
    """Whom to hand it over to."""

    assigned_to: Annotated[
        list[Text], Field(min_length=1, max_length=50, description="Persons, addresses, roles or groups.")
    ]
    reason: Text = ""


class AddCommentRequest(RequestBody):
    text: Text


class BatchItem(RequestBody):
    approval_id: Id
    digest: Digest = None


class DecideBatchRequest(RequestBody):
    """The same decision on several approvals of one kind; each is decided or refused by itself."""

    decision: Literal["approve", "revise", "reject"]
    feedback: Annotated[Text, Field(description="Why; required to send back and to reject.")] = ""
    items: Annotated[list[BatchItem], Field(min_length=1, max_length=200)]


Decision = Literal[
    "approve", "revise", "reject", "refuse", "answer", "decline", "accept", "feedback", "retry", "restart", "fail"
]
