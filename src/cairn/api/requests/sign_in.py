"""Request bodies for sessions and invitations."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import Field, model_validator

from cairn.api.parameters import Text
from cairn.api.request_body import RequestBody
from cairn.api.requests.identity import CreateUserRequest, Line

Secret = Annotated[str, Field(max_length=512)]  # never in a response or log: errors don't repeat the value


class CreateSessionRequest(RequestBody):
    """Sign in with a token, or with a username and password."""

    token: Secret | None = None
    name: Annotated[Text | None, Field(max_length=300, description="Username or email address.")] = None
    password: Annotated[str | None, Field(max_length=2048)] = None

    @model_validator(mode="after")
    def require_one_credential(self) -> Self:
        has_password = self.name is not None and self.password is not None
        if (self.token is not None) == has_password:
            raise ValueError("Send either `token`, or `name` and `password`")
        return self


class ChangePasswordRequest(RequestBody):
    current: Annotated[str, Field(max_length=2048, description="Empty if you have no password yet.")] = ""
    new: Annotated[str, Field(max_length=2048)]


class StartSignInRequest(RequestBody):
    return_to: Annotated[str, Field(max_length=2000, description="Page of this server to return to.")] = "/"


class FinishSignInRequest(RequestBody):
    code: Annotated[str, Field(max_length=4096, description="As received from the provider.")]
    state: Annotated[str, Field(max_length=4096, description="As received from the provider.")]


class CreateInvitationRequest(CreateUserRequest):
    """A new user or, with only the name, an existing user who sets a new password."""

    valid_hours: Annotated[int, Field(ge=1, le=720)] = 72


class PreviewInvitationRequest(RequestBody):
    token: Secret


class AcceptInvitationRequest(RequestBody):
    token: Secret
    password: Annotated[str, Field(max_length=2048)]
    display_name: Line | None = None
