"""Secrets: whether their keys are there."""

from __future__ import annotations

from cairn.services.doctor.views import HealthCheck
from cairn.services.secrets import SecretStore


def secrets(store: SecretStore) -> list[HealthCheck]:
    kept = store.list()
    lost = [one.name for one in kept if not one.is_readable]
    if not lost:
        return [HealthCheck(name="secrets", status="ok", detail=f"{len(kept)} kept", hint="")]
    detail = f"no key opens {', '.join(lost)[:200]}"
    hint = "bring secret.key back from a backup, or name its key in CAIRN_SECRET_KEY, or set them anew"
    return [HealthCheck(name="secrets", status="error", detail=detail, hint=hint)]
