"""Request bodies for actions."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from cairn.api.parameters import Text
from cairn.api.request_body import RequestBody


class SettleActionRequest(RequestBody):
    """What happened to an action whose outcome is unknown."""

    answer: Annotated[
        Literal["happened", "did_not_happen", "send_again", "give_up"],
        Field(description="`send_again` repeats it with the same idempotency key. `give_up` leaves it unknown."),
    ]
    feedback: Annotated[Text, Field(max_length=10_000)] = ""


class RevokeActionRequest(RequestBody):
    reason: Annotated[Text, Field(min_length=1, max_length=10_000)]
