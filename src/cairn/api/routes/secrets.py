"""Secrets: set, replaced, removed, encrypted anew. Their values never come back."""

from __future__ import annotations

from starlette.concurrency import run_in_threadpool

from cairn.api.guarding import operations
from cairn.api.parameters import Paging, SecretName
from cairn.api.people_bodies import PutSecret
from cairn.api.wiring import By, Services
from cairn.services.identity.views import Secret, SecretPage, SecretRotation
from cairn.services.secrets import StoredSecret

router = operations("/api/secrets", "Secrets")


@router.get("")
def list_secrets(services: Services, paging: Paging) -> SecretPage:
    """Secrets by name, without their values."""
    kept = [one for one in services.secrets.list() if paging.cursor is None or one.name > paging.cursor]
    shown = [_secret(one) for one in kept[: paging.limit]]
    return SecretPage(items=shown, next_cursor=shown[-1].name if len(kept) > paging.limit else None)


@router.put("/{name}")
async def put_secret(name: SecretName, body: PutSecret, services: Services, by: By) -> Secret:
    """Set a secret, or replace it."""
    await services.secrets.put(name, body.value, by)
    return await run_in_threadpool(_shown, services, name)


@router.delete("/{name}", status_code=204)
async def remove_secret(name: SecretName, services: Services, by: By) -> None:
    """Remove a secret. What needs it fails from now on."""
    await services.secrets.remove(name, by)


@router.post("/rotate")
async def rotate_secrets(services: Services, by: By) -> SecretRotation:
    """Encrypt all secrets anew: with a new key, or with the newest one of the settings."""
    return SecretRotation(count=await services.secrets.rotate(by))


def _shown(services: Services, name: str) -> Secret:
    return next(_secret(one) for one in services.secrets.list() if one.name == name)


def _secret(kept: StoredSecret) -> Secret:
    return Secret(
        name=kept.name,
        created_at=kept.created_at,
        created_by=kept.created_by,
        changed_at=kept.changed_at,
        changed_by=kept.changed_by,
        is_readable=kept.is_readable,
    )
