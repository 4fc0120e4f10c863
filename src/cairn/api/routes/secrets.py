"""Secrets. Their values are never returned."""

from __future__ import annotations

from starlette.concurrency import run_in_threadpool

from cairn.api.dependencies import By, Services
from cairn.api.examples import identity as examples
from cairn.api.operations import ADMIN, operation, operation_router
from cairn.api.parameters import Paging, SecretName
from cairn.api.requests.secrets import PutSecretRequest
from cairn.services.identity.views import Secret, SecretPage, SecretRotation
from cairn.services.secrets import StoredSecret

router = operation_router("/api/secrets", "Secrets")


@router.get("")
@operation(ADMIN, response_example=examples.secrets)
def list_secrets(services: Services, paging: Paging) -> SecretPage:
    """List secrets by name, without their values."""
    kept = [one for one in services.secrets.list() if paging.cursor is None or one.name > paging.cursor]
    shown = [_secret(one) for one in kept[: paging.limit]]
    return SecretPage(items=shown, next_cursor=shown[-1].name if len(kept) > paging.limit else None)


@router.put("/{name}")
@operation(
    ADMIN,
    idempotent=False,
    errors=(409,),
    request_example=examples.put_secret_request,
    response_example=examples.secret,
)
async def put_secret(name: SecretName, body: PutSecretRequest, services: Services, by: By) -> Secret:
    """Create or replace a secret."""
    await services.secrets.save(name, body.value, by)
    return await run_in_threadpool(_shown, services, name)


@router.delete("/{name}", status_code=204)
@operation(ADMIN)
async def remove_secret(name: SecretName, services: Services, by: By) -> None:
    """Remove a secret. Anything that needs it fails from now on."""
    await services.secrets.remove(name, by)


@router.post("/rotate")
@operation(ADMIN, response_example=examples.secret_rotation)
async def rotate_secrets(services: Services, by: By) -> SecretRotation:
    """Encrypt all secrets again, with a new key or the newest key in the settings."""
    return SecretRotation(count=await services.secrets.rotate(by))


def _shown(services: Services, name: str) -> Secret:
    return next(_secret(one) for one in services.secrets.list() if one.name == name)


def _secret(kept: StoredSecret) -> Secret:
    return Secret(
        name=kept.name,
        created_at=kept.created_at,
        created_by=kept.created_by,
        updated_at=kept.updated_at,
        updated_by=kept.updated_by,
        is_readable=kept.is_readable,
    )
