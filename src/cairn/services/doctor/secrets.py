"""Check that all secrets can be decrypted."""

from __future__ import annotations

from cairn.services.doctor.views import HealthCheck
from cairn.services.secrets import SecretStore


def check_secrets(store: SecretStore) -> list[HealthCheck]:
    unreadable = store.unreadable()
    if not unreadable:
        return [HealthCheck(name="secrets", status="ok", detail=f"{len(store.list())} stored", hint="")]
    detail = f"can't decrypt {', '.join(unreadable)[:200]}"
    hint = "restore secret.key from a backup, set its key in CAIRN_SECRET_KEY, or set the secrets again"
    return [HealthCheck(name="secrets", status="error", detail=detail, hint=hint)]
