"""Who is signed in, as it is shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

import cairn
from cairn.services.actors import Actor, Role, Scope
from cairn.services.identity.session_views import Session, SignInOptions, SignInProvider

if TYPE_CHECKING:
    from cairn.bootstrap import AppServices


def session_view(services: AppServices, actor: Actor) -> Session:
    user = services.accounts.people.user(actor.name)
    return Session(
        actor=actor.name,
        display_name=user.display_name,
        email=user.email,
        roles=[role for role in Role if role.value in actor.roles],
        groups=sorted(actor.groups),
        stands_for=sorted(actor.stands_for),
        scopes=None if actor.scopes is None else [scope for scope in Scope if scope.value in actor.scopes],
        has_password=user.has_password,
        sign_in_ways=sign_in_ways(services),
        version=cairn.__version__,
        data_dir=str(services.settings.data_dir.resolve()) if actor.is_admin else None,
    )


def sign_in_ways(services: AppServices) -> SignInOptions:
    offered = services.accounts.providers.offered
    return SignInOptions(
        password=services.accounts.people.has_passwords(),
        providers=[SignInProvider(name=policy.name, title=policy.title) for policy in offered],
    )
