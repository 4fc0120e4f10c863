"""What a list is asked for."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from cairn.core.rule_verdict import RiskLevel
from cairn.core.states import ApprovalKind, ApprovalStatus, RunStatus
from cairn.store.tables.notifications import DeliveryStatus, NotificationKind


@dataclass(frozen=True, slots=True)
class RunFilter:
    pipeline_id: str | None = None
    statuses: tuple[RunStatus, ...] = ()
    definition_version: int | None = None
    include_archived: bool = False
    include_tests: bool = False


@dataclass(frozen=True, slots=True)
class ApprovalFilter:
    statuses: tuple[ApprovalStatus, ...] = (ApprovalStatus.PENDING,)
    kinds: tuple[ApprovalKind, ...] = ()
    pipeline_id: str | None = None
    run_id: str | None = None
    sort: Literal["age", "deadline", "risk", "priority"] = "age"
    risks: tuple[RiskLevel, ...] = ()
    operation_type: str | None = None
    rule: str | None = None
    answers_to: frozenset[str] | None = None  # only what is put to somebody who is named so
    decided_by: str | None = None  # only what this person may decide though the run may be their own


@dataclass(frozen=True, slots=True)
class ArtifactFilter:
    pipeline_id: str | None = None
    run_id: str | None = None
    execution_id: str | None = None


@dataclass(frozen=True, slots=True)
class LogFilter:
    levels: tuple[str, ...] = ()
    search: str = ""
    before: int | None = None  # log ids
    after: int | None = None
    newest_first: bool = False


@dataclass(frozen=True, slots=True)
class EventFilter:
    pipeline_id: str | None = None
    run_id: str | None = None
    execution_id: str | None = None
    types: tuple[str, ...] = ()
    since: datetime | None = None
    until: datetime | None = None
    is_global: bool = False  # only what belongs to no pipeline


@dataclass(frozen=True, slots=True)
class DeliveryFilter:
    channel_id: str | None = None
    pipeline_id: str | None = None
    run_id: str | None = None
    approval_id: str | None = None
    statuses: tuple[DeliveryStatus, ...] = ()
    kinds: tuple[NotificationKind, ...] = ()
