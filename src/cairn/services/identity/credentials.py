"""API tokens: how they are generated, hashed and stored."""

from __future__ import annotations

import secrets
from datetime import datetime
from hashlib import sha256
from typing import Any, cast
from uuid import uuid4

from cairn.services.actors import Actor

PREFIX = "cairn_"  # lets secret scanners recognize a leaked token
LOCAL = "local"  # the name of the start link's token


def scopes_of(row: Any) -> frozenset[str] | None:
    return None if row.scopes is None else frozenset(cast("list[str]", row.scopes))


def new_secret() -> str:
    return PREFIX + secrets.token_urlsafe(32)


def digest_of(secret: str) -> str:
    return sha256(secret.encode(errors="surrogatepass")).hexdigest()


def token_row(
    token: str,
    user: str,
    name: str,
    *,
    actor: Actor,
    at: datetime,
    scopes: list[str] | None = None,
    expires_at: datetime | None = None,
) -> dict[str, Any]:
    return {
        "token_digest": digest_of(token),
        "token_id": str(uuid4()),
        "user_name": user,
        "name": name,
        "scopes": scopes,
        "created_at": at,
        "created_by": actor.name,
        "expires_at": expires_at,
    }
