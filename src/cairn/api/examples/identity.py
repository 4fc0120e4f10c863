"""Users, groups, delegations, invitations, tokens, sessions and secrets."""

from __future__ import annotations

from typing import Any

from cairn.api.examples import story
from cairn.services.actors import Role, Scope
from cairn.services.identity import views as v
from cairn.services.identity.views import Session, SignedIn, SignInOptions, SignInProvider, SignInRedirect


def _created() -> dict[str, Any]:
    return {"created_at": story.at(-600), "created_by": "admin"}


_TEXT = "cairn_3mXk1Vn0m0Qb2cJ4t8uYp6s7wE5rT9zA1xC3vB5nM7"


def user() -> v.User:
    return v.User(
        name="reviewer",
        display_name="A reviewer",
        email="reviewer@example.com",
        roles=[Role.VIEWER, Role.APPROVER],
        groups=["finance"],
        has_password=True,
        providers=["corp"],
        is_invited=False,
        last_signed_in_at=story.at(-5),
        deleted_at=None,
        **_created(),
    )


def group() -> v.Group:
    return v.Group(name="finance", description="Approves spending", members=["reviewer"], **_created())


def _invitation() -> dict[str, Any]:
    return {
        "invitation_id": story.id_of("invitation"),
        "user": "reviewer",
        "expires_at": story.at(3720),
        "accepted_at": None,
        "revoked_at": None,
        "is_open": True,
        **_created(),
    }


def _token() -> dict[str, Any]:
    return {
        "token_id": story.id_of("token"),
        "user": "reviewer",
        "name": "nightly import",
        "scopes": [Scope.READ, Scope.RUN],
        "expires_at": story.at(129_000),
        "last_used_at": story.at(-10),
        "revoked_at": None,
        "is_valid": True,
        **_created(),
    }


def open_session() -> v.OpenSession:
    return v.OpenSession(
        session_id=story.id_of("session"),
        user="reviewer",
        signed_in_with="password",
        scopes=None,
        address="192.0.2.7",
        user_agent="Mozilla/5.0",
        created_at=story.at(-5),
        expires_at=story.at(10_075),
        is_current=True,
    )


def delegation() -> v.Delegation:
    return v.Delegation(
        delegation_id=story.id_of("delegation"),
        from_user="reviewer",
        to_user="second-reviewer",
        reason="On holiday",
        starts_at=story.at(0),
        ends_at=story.at(20_160),
        ended_at=None,
        ended_by=None,
        is_active=True,
        **_created(),
    )


def secret() -> v.Secret:
    return v.Secret(name="smtp-password", updated_at=story.at(-30), updated_by="admin", is_readable=True, **_created())


def sign_in_options() -> SignInOptions:
    return SignInOptions(password=True, providers=[SignInProvider(name="corp", title="Company account")])


def session() -> Session:
    return Session(
        actor="admin",
        display_name="Administrator",
        email="",
        roles=list(Role),
        groups=[],
        acting_for=[],
        scopes=None,
        has_password=False,
        sign_in_options=sign_in_options(),
        version="0.1.0",
        data_dir="/srv/cairn-data",
    )


def create_user_request() -> dict[str, Any]:
    return {"name": "reviewer", "email": "reviewer@example.com", "roles": ["viewer", "approver"]}


def sign_in_request() -> dict[str, Any]:
    return {"token": "the token from the start link"}


def change_password_request() -> dict[str, Any]:
    return {"current": "several plain words", "new": "several other words"}


def start_sign_in_request() -> dict[str, Any]:
    return {"return_to": "/approvals"}


def finish_sign_in_request() -> dict[str, Any]:
    return {"code": "the code from the provider", "state": "the state from the provider"}


def update_user_request() -> dict[str, Any]:
    return {"roles": ["viewer", "editor"]}


def create_group_request() -> dict[str, Any]:
    return {"name": "finance", "description": "Approves spending", "members": ["reviewer"]}


def update_group_request() -> dict[str, Any]:
    return {"members": ["reviewer", "second-reviewer"]}


def create_invitation_request() -> dict[str, Any]:
    return {**create_user_request(), "valid_hours": 72}


def preview_invitation_request() -> dict[str, Any]:
    return {"token": _TEXT}


def accept_invitation_request() -> dict[str, Any]:
    return {"token": _TEXT, "password": "several plain words"}


def update_account_request() -> dict[str, Any]:
    return {"display_name": "A reviewer"}


def create_own_token_request() -> dict[str, Any]:
    return {"name": "my notebook", "scopes": ["read", "decide"], "valid_days": 30}


def create_token_request() -> dict[str, Any]:
    return {"name": "nightly import", "user": "reviewer", "scopes": ["read", "run"], "valid_days": 90}


def create_delegation_request() -> dict[str, Any]:
    return {"to_user": "second-reviewer", "ends_at": "2026-03-16T09:30:00Z", "reason": "On holiday"}


def put_secret_request() -> dict[str, Any]:
    return {"value": "a long random text"}


def sign_in_redirect() -> SignInRedirect:
    return SignInRedirect(url="https://login.example.com/authorize?response_type=code&client_id=cairn")


def signed_in() -> SignedIn:
    return SignedIn(session=session(), return_to="/approvals")


def directory() -> v.PersonPage:
    return story.page(
        v.PersonPage, v.Person(name="reviewer", display_name="A reviewer", groups=["finance"], can_decide=True)
    )


def users() -> v.UserPage:
    return story.page(v.UserPage, user())


def groups() -> v.GroupPage:
    return story.page(v.GroupPage, group())


def delegations() -> v.DelegationPage:
    return story.page(v.DelegationPage, delegation())


def invitations() -> v.InvitationPage:
    return story.page(v.InvitationPage, v.Invitation(**_invitation()))


def created_invitation() -> v.NewInvitation:
    return v.NewInvitation(**_invitation(), token=_TEXT, path=f"/welcome#invitation={_TEXT}")


def invitation_preview() -> v.InvitationPreview:
    return v.InvitationPreview(
        user="reviewer", display_name="A reviewer", email="reviewer@example.com", expires_at=story.at(3720)
    )


def token() -> v.Token:
    return v.Token(**_token())


def tokens() -> v.TokenPage:
    return story.page(v.TokenPage, token())


def created_token() -> v.CreatedToken:
    return v.CreatedToken(**_token(), token=_TEXT)


def open_sessions() -> v.OpenSessionPage:
    return story.page(v.OpenSessionPage, open_session())


def ended_sessions() -> v.EndedSessions:
    return v.EndedSessions(count=2)


def secrets() -> v.SecretPage:
    return story.page(v.SecretPage, secret())


def secret_rotation() -> v.SecretRotation:
    return v.SecretRotation(count=4)
