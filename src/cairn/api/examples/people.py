"""Around the story: who there is, and what lets them in."""

from __future__ import annotations

from typing import Any

from cairn.api.examples import story as s
from cairn.services.actors import Role, Scope
from cairn.services.identity import views as v
from cairn.services.identity.session_views import Session, SignedIn, SignInOptions, SignInProvider, SignInRedirect
from cairn.services.view import View

_MADE: dict[str, Any] = {"created_at": s.at(-600), "created_by": "admin"}
_TEXT = "cairn_3mXk1Vn0m0Qb2cJ4t8uYp6s7wE5rT9zA1xC3vB5nM7"
_USER = v.User(
    name="reviewer",
    display_name="A reviewer",
    email="reviewer@example.com",
    roles=[Role.VIEWER, Role.APPROVER],
    groups=["finance"],
    has_password=True,
    providers=["corp"],
    is_invited=False,
    signed_in_at=s.at(-5),
    removed_at=None,
    **_MADE,
)
_GROUP = v.Group(name="finance", description="Who looks at what costs money", members=["reviewer"], **_MADE)
_INVITATION: dict[str, Any] = {
    "invitation_id": s.name("invitation"),
    "user": "reviewer",
    "expires_at": s.at(3720),
    "accepted_at": None,
    "revoked_at": None,
    "is_open": True,
    **_MADE,
}
_TOKEN: dict[str, Any] = {
    "token_id": s.name("token"),
    "user": "reviewer",
    "name": "nightly import",
    "scopes": [Scope.READ, Scope.RUN],
    "expires_at": s.at(129_000),
    "last_used_at": s.at(-10),
    "revoked_at": None,
    "is_valid": True,
    **_MADE,
}
_SESSION = v.OpenSession(
    session_id=s.name("session"),
    user="reviewer",
    signed_in_with="password",
    scopes=None,
    address="192.0.2.7",
    user_agent="Mozilla/5.0",
    created_at=s.at(-5),
    expires_at=s.at(10_075),
    is_current=True,
)
_DELEGATION = v.Delegation(
    delegation_id=s.name("delegation"),
    from_user="reviewer",
    to_user="second-reviewer",
    reason="On holiday",
    starts_at=s.at(0),
    until=s.at(20_160),
    ended_at=None,
    ended_by=None,
    is_in_force=True,
    **_MADE,
)
_SECRET = v.Secret(name="smtp-password", changed_at=s.at(-30), changed_by="admin", is_readable=True, **_MADE)
_WAYS = SignInOptions(password=True, providers=[SignInProvider(name="corp", title="Company account")])
SESSION = Session(
    actor="admin",
    display_name="Administrator",
    email="",
    roles=list(Role),
    groups=[],
    stands_for=[],
    scopes=None,
    has_password=False,
    sign_in_ways=_WAYS,
    version="0.1.0",
    data_dir="/srv/cairn-data",
)
_NEW_USER: dict[str, Any] = {"name": "reviewer", "email": "reviewer@example.com", "roles": ["viewer", "approver"]}


def _page(kind: type[View], *items: View) -> View:
    return kind.model_validate({"items": items, "next_cursor": None})


REQUESTS: dict[str, Any] = {
    "sign_in": {"token": "the token of the start link"},
    "change_password": {"current": "several plain words", "new": "several other words"},
    "begin_sign_in": {"return_to": "/approvals"},
    "finish_sign_in": {"code": "as the provider gave it", "state": "as the provider gave it"},
    "create_user": _NEW_USER,
    "update_user": {"roles": ["viewer", "editor"]},
    "create_group": {"name": "finance", "description": "Who looks at what costs money", "members": ["reviewer"]},
    "update_group": {"members": ["reviewer", "second-reviewer"]},
    "create_invitation": {**_NEW_USER, "valid_hours": 72},
    "preview_invitation": {"token": _TEXT},
    "accept_invitation": {"token": _TEXT, "password": "several plain words"},
    "update_me": {"display_name": "A reviewer"},
    "create_own_token": {"name": "my notebook", "scopes": ["read", "decide"], "valid_days": 30},
    "create_token": {"name": "nightly import", "user": "reviewer", "scopes": ["read", "run"], "valid_days": 90},
    "create_delegation": {"to_user": "second-reviewer", "until": "2026-03-16T09:30:00Z", "reason": "On holiday"},
    "put_secret": {"value": "a long random text"},
}
RESPONSES: dict[str, View | str | dict[str, Any] | None] = {
    "sign_in": SESSION,
    "get_session": SESSION,
    "sign_out": None,
    "change_password": None,
    "get_sign_in_ways": _WAYS,
    "begin_sign_in": SignInRedirect(url="https://login.example.com/authorize?response_type=code&client_id=cairn"),
    "finish_sign_in": SignedIn(session=SESSION, return_to="/approvals"),
    "list_people": _page(
        v.PersonPage, v.Person(name="reviewer", display_name="A reviewer", groups=["finance"], may_decide=True)
    ),
    "list_users": _page(v.UserPage, _USER),
    **dict.fromkeys(("create_user", "get_user", "update_user", "remove_user", "restore_user"), _USER),
    "list_groups": _page(v.GroupPage, _GROUP),
    **dict.fromkeys(("create_group", "get_group", "update_group"), _GROUP),
    "remove_group": None,
    "list_delegations": _page(v.DelegationPage, _DELEGATION),
    **dict.fromkeys(("create_delegation", "get_delegation", "end_delegation"), _DELEGATION),
    "list_invitations": _page(v.InvitationPage, v.Invitation(**_INVITATION)),
    "create_invitation": v.NewInvitation(**_INVITATION, token=_TEXT, path=f"/welcome#invitation={_TEXT}"),
    "revoke_invitation": None,
    "preview_invitation": v.InvitationPreview(
        user="reviewer", display_name="A reviewer", email="reviewer@example.com", expires_at=s.at(3720)
    ),
    "accept_invitation": SESSION,
    "update_me": SESSION,
    "list_own_tokens": _page(v.TokenPage, v.Token(**_TOKEN)),
    "create_own_token": v.CreatedToken(**_TOKEN, token=_TEXT),
    "revoke_own_token": v.Token(**_TOKEN),
    "list_tokens": _page(v.TokenPage, v.Token(**_TOKEN)),
    "create_token": v.CreatedToken(**_TOKEN, token=_TEXT),
    "revoke_token": v.Token(**_TOKEN),
    "list_sessions": _page(v.OpenSessionPage, _SESSION),
    "end_session": None,
    "end_sessions": v.EndedSessions(count=2),
    "list_secrets": _page(v.SecretPage, _SECRET),
    "put_secret": _SECRET,
    "remove_secret": None,
    "rotate_secrets": v.SecretRotation(count=4),
}
