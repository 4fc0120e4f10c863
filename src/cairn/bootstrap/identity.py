"""Everything about who there is and how they come in, in one place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from cairn.ports.identity import IdentityProvider, Policy
from cairn.services.engine.admin_changes import Acts
from cairn.services.identity.delegations import Delegations
from cairn.services.identity.groups import Groups
from cairn.services.identity.queries import People
from cairn.services.identity.tokens import Tokens
from cairn.services.identity.users import Users
from cairn.services.sign_in.authentication import Access
from cairn.services.sign_in.invitations import Invitations
from cairn.services.sign_in.passwords import Passwords
from cairn.services.sign_in.providers import Providers
from cairn.services.sign_in.service import SigningIn
from cairn.services.sign_in.sessions import Sessions


@dataclass(frozen=True, slots=True)
class Accounts:
    users: Users
    groups: Groups
    invitations: Invitations
    tokens: Tokens
    sessions: Sessions
    delegations: Delegations
    signing_in: SigningIn
    providers: Providers
    people: People  # who reads all of these


def open_accounts(
    acts: Acts, access: Access, known: Mapping[str, tuple[Policy, IdentityProvider]], passwords: Passwords | None = None
) -> Accounts:
    """What `access` believes is forgotten with every change."""
    acts.forget_with(access.forget)
    passwords = passwords or Passwords()
    signing_in = SigningIn(acts.database, acts.clock, access, passwords)
    return Accounts(
        users=Users(acts),
        groups=Groups(acts),
        invitations=Invitations(acts, passwords, signing_in),
        tokens=Tokens(acts),
        sessions=Sessions(acts, passwords),
        delegations=Delegations(acts),
        signing_in=signing_in,
        providers=Providers(acts, signing_in, known),
        people=People(acts.database, acts.clock),
    )
