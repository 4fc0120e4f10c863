"""Build the services for users, groups, tokens, sessions and sign-in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from cairn.ports.identity import IdentityProvider, ProviderPolicy
from cairn.services.engine.admin_changes import AdminChanges
from cairn.services.identity.delegations import Delegations
from cairn.services.identity.groups import Groups
from cairn.services.identity.queries import IdentityQueries
from cairn.services.identity.tokens import TokenService
from cairn.services.identity.users import Users
from cairn.services.sign_in.authentication import Authentication
from cairn.services.sign_in.invitations import Invitations
from cairn.services.sign_in.passwords import Passwords
from cairn.services.sign_in.providers import IdentityProviders
from cairn.services.sign_in.service import SignInService
from cairn.services.sign_in.sessions import Sessions


@dataclass(frozen=True, slots=True)
class Identity:
    users: Users
    groups: Groups
    invitations: Invitations
    tokens: TokenService
    sessions: Sessions
    delegations: Delegations
    sign_in: SignInService
    providers: IdentityProviders
    queries: IdentityQueries


def build_identity(
    admin_changes: AdminChanges,
    authentication: Authentication,
    identity_providers: Mapping[str, tuple[ProviderPolicy, IdentityProvider]],
    passwords: Passwords | None = None,
) -> Identity:
    admin_changes.on_change(authentication.clear_cache)
    passwords = passwords or Passwords()
    sign_in = SignInService(admin_changes.database, admin_changes.clock, authentication, passwords)
    return Identity(
        users=Users(admin_changes),
        groups=Groups(admin_changes),
        invitations=Invitations(admin_changes, passwords, sign_in),
        tokens=TokenService(admin_changes),
        sessions=Sessions(admin_changes, passwords),
        delegations=Delegations(admin_changes),
        sign_in=sign_in,
        providers=IdentityProviders(admin_changes, sign_in, identity_providers),
        queries=IdentityQueries(admin_changes.database, admin_changes.clock),
    )
