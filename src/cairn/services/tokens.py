"""API tokens: shown once, kept as a digest, narrowed by scopes, revoked at once (S1)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

import sqlalchemy as sa

from cairn.services.access import LOCAL, new_secret, token_row
from cairn.services.actors import ALL_SCOPES, Actor
from cairn.services.acts import Act, Acts
from cairn.services.errors import Forbidden, NotFound, WrongInput
from cairn.services.names import line_of
from cairn.services.users import standing
from cairn.store import tables as t

A = t.api_tokens.c
LONGEST_NAME = 100


@dataclass(frozen=True, slots=True)
class NewToken:
    user: str
    name: str
    scopes: tuple[str, ...] | None = None  # None narrows nothing
    days: int | None = None  # None is for ever


@dataclass(frozen=True, slots=True)
class Made:
    token_id: str
    token: str
    expires_at: datetime | None


class Tokens:
    def __init__(self, acts: Acts) -> None:
        self._acts = acts

    async def create(self, wanted: NewToken, by: Actor) -> Made:
        """The token itself is in this answer and nowhere else."""
        return await self._acts.carry_out(lambda act: _create(act, wanted), by)

    async def revoke(self, token_id: str, by: Actor) -> None:
        """At once, with the sessions that were opened with it. A second time changes nothing."""
        await self._acts.carry_out(lambda act: _revoke(act, token_id), by)


def _create(act: Act, wanted: NewToken) -> Made:
    standing(act.connection, wanted.user)
    name = line_of(wanted.name, "/name", LONGEST_NAME)
    if not name or name == LOCAL:
        raise WrongInput([("/name", f"Say what the token is for; {LOCAL} is the start link's.")])
    scopes = None if wanted.scopes is None else sorted(set(wanted.scopes))
    if scopes is not None and (not scopes or set(scopes) - ALL_SCOPES):
        raise WrongInput([("/scopes", f"Choose one or more of {', '.join(sorted(ALL_SCOPES))}.")])
    if act.by.scopes is not None and (scopes is None or set(scopes) - act.by.scopes):
        raise Forbidden("A token makes no token that may do more than itself.")
    token = new_secret()
    expires_at = None if wanted.days is None else act.at + timedelta(days=wanted.days)
    row = token_row(token, wanted.user, name, by=act.by, at=act.at, scopes=scopes, expires_at=expires_at)
    act.connection.execute(sa.insert(t.api_tokens).values(row))
    act.record("token_created", token_id=row["token_id"], user=wanted.user, token=name, scopes=scopes)
    return Made(row["token_id"], token, expires_at)


def _revoke(act: Act, token_id: str) -> None:
    row = act.connection.execute(sa.select(t.api_tokens).where(A.token_id == token_id).with_for_update()).one_or_none()
    if row is None:
        raise NotFound("token", token_id)
    act.connection.execute(sa.delete(t.sessions).where(t.sessions.c.token_id == token_id))
    if row.revoked_at is None:
        act.connection.execute(sa.update(t.api_tokens).where(A.token_id == token_id).values(revoked_at=act.at))
        act.record("token_revoked", token_id=token_id, user=row.user_name, token=row.name)
