"""Check that all secrets can be decrypted."""

from __future__ import annotations

from cairn.services.doctor.views import HealthCheck
from cairn.services.secrets import SecretStore


def check_secrets(store: SecretStore) -> list[HealthCheck]:
    secrets = store.list()
    unreadable = [secret.name for secret in secrets if not secret.is_readable]
    if not unreadable:
        return [HealthCheck(name="secrets", status="ok", detail=f"{len(secrets)} stored", hint="")]
    detail = f"can't decrypt {', '.join(unreadable)[:200]}"
    hint = "restore secret.key from a backup, set its key in CAIRN_SECRET_KEY, or set the secrets again"
    return [HealthCheck(name="secrets", status="error", detail=detail, hint=hint)]
