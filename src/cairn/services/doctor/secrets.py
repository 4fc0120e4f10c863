"""Secrets: whether their keys are there."""

from __future__ import annotations

from cairn.services.doctor.views import HealthCheck
from cairn.services.secrets import SecretStore


def secrets(store: SecretStore) -> list[HealthCheck]:
    kept = store.list()
    lost = [one.name for one in kept if not one.is_readable]
    if not lost:
        return [HealthCheck(what="secrets", verdict="ok", detail=f"{len(kept)} kept", remedy="")]
    detail = f"no key opens {', '.join(lost)[:200]}"
    remedy = "bring secret.key back from a backup, or name its key in CAIRN_SECRET_KEY, or set them anew"
    return [HealthCheck(what="secrets", verdict="fault", detail=detail, remedy=remedy)]
