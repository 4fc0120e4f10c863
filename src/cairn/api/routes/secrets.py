"""Secrets. Their values are never returned."""

from __future__ import annotations

from starlette.concurrency import run_in_threadpool

from cairn.api.dependencies import CurrentActor, Services
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
    stored = [secret for secret in services.secrets.list() if paging.cursor is None or secret.name > paging.cursor]
    shown = [_secret(secret) for secret in stored[: paging.limit]]
    return SecretPage(items=shown, next_cursor=shown[-1].name if len(stored) > paging.limit else None)


@router.put("/{name}")
@operation(
    ADMIN,
    idempotent=False,
    errors=(409,),
    request_example=examples.put_secret_request,
    response_example=examples.secret,
)
async def put_secret(name: SecretName, body: PutSecretRequest, services: Services, actor: CurrentActor) -> Secret:
    """Create or replace a secret."""
    await services.secrets.save(name, body.value, actor)
    return await run_in_threadpool(_view, services, name)


@router.delete("/{name}", status_code=204)
@operation(ADMIN)
async def delete_secret(name: SecretName, services: Services, actor: CurrentActor) -> None:
    """Delete a secret. Anything that needs it fails from now on."""
    await services.secrets.remove(name, actor)


@router.post("/rotate")
@operation(ADMIN, response_example=examples.secret_rotation)
async def rotate_secrets(services: Services, actor: CurrentActor) -> SecretRotation:
    """Encrypt all secrets again, with a new key or the newest key in the settings."""
    return SecretRotation(count=await services.secrets.rotate(actor))


def _view(services: Services, name: str) -> Secret:
    return next(_secret(secret) for secret in services.secrets.list() if secret.name == name)


def _secret(stored: StoredSecret) -> Secret:
    return Secret(
        name=stored.name,
        created_at=stored.created_at,
        created_by=stored.created_by,
        updated_at=stored.updated_at,
        updated_by=stored.updated_by,
        is_readable=stored.is_readable,
    )
