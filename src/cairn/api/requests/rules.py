"""Request bodies for rules."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from cairn.api.parameters import Text
from cairn.api.request_body import RequestBody


class SetEmergencyStopRequest(RequestBody):
    """The emergency stop of automatic approvals or of all actions."""

    stopped: bool
    level: Annotated[
        Literal["approvals", "actions"],
        Field(description="`approvals`: rules approve nothing. `actions`: no action starts either, even if approved."),
    ] = "approvals"
    reason: Annotated[Text, Field(max_length=2000, description="Required to stop.")] = ""


class ReviewAuditRequest(RequestBody):
    """The review of an automatic approval."""

    agrees: bool
    comment: Annotated[Text, Field(max_length=10_000)] = ""
