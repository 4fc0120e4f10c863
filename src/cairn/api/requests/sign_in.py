"""Bodies of requests about sessions and invitations."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import Field, model_validator

from cairn.api.parameters import Text
from cairn.api.request_body import RequestBody
from cairn.api.requests.identity import CreateUserRequest, Line

Secret = Annotated[str, Field(max_length=512)]  # never in an answer or a log: texts that do not fit are not repeated


class CreateSessionRequest(RequestBody):
    """With a token, or with a name and a password."""

    token: Secret | None = None
    name: Annotated[Text | None, Field(max_length=300, description="Of the user, or the address.")] = None
    password: Annotated[str | None, Field(max_length=2048)] = None

    @model_validator(mode="after")
    def names_one_way(self) -> Self:
        by_password = self.name is not None and self.password is not None
        if (self.token is not None) == by_password:
            raise ValueError("Give `token`, or `name` with `password`")
        return self


class ChangePasswordRequest(RequestBody):
    current: Annotated[str, Field(max_length=2048, description="Empty for who has none yet.")] = ""
    new: Annotated[str, Field(max_length=2048)]


class StartSignInRequest(RequestBody):
    return_to: Annotated[str, Field(max_length=2000, description="A page of this server to come back to.")] = "/"


class FinishSignInRequest(RequestBody):
    code: Annotated[str, Field(max_length=4096, description="As the provider gave it to the page.")]
    state: Annotated[str, Field(max_length=4096, description="As the provider gave it to the page.")]


class CreateInvitationRequest(CreateUserRequest):
    """Somebody new; or with the name alone, somebody who is here and sets a new password."""

    valid_hours: Annotated[int, Field(ge=1, le=720)] = 72


class PreviewInvitationRequest(RequestBody):
    token: Secret


class AcceptInvitationRequest(RequestBody):
    token: Secret
    password: Annotated[str, Field(max_length=2048)]
    display_name: Line | None = None
