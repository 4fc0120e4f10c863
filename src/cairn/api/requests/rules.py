"""Request bodies for rules."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from cairn.api.parameters import Text
from cairn.api.request_body import RequestBody


class SetEmergencyStopRequest(RequestBody):
    """The emergency stop of automatic approvals."""

    stopped: bool
    reason: Annotated[Text, Field(max_length=2000, description="Required to stop.")] = ""


class ReviewAuditRequest(RequestBody):
    """The review of an automatic approval."""

    agrees: bool
    comment: Annotated[Text, Field(max_length=10_000)] = ""
