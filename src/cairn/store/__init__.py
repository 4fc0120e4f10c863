"""Persistence: tables, transactions, runs, content and the audit trail."""

from sqlalchemy import Connection

from cairn.store.database.database import Database
from cairn.store.errors import (
    DamagedBlob,
    DatabaseClosed,
    LostRace,
    MissingBlob,
    OldSqlite,
    StaleDispatch,
    StoreError,
    Unstorable,
    UnsupportedSchema,
)
from cairn.store.events.verification import BrokenLink, VerificationResult, verify
from cairn.store.lineage import save_lineage
from cairn.store.plans import BoundedCache, CheckpointPlace, FolderLayout, PlanCache, PlanSource, document
from cairn.store.runs.artifacts import NewArtifact, find_artifacts
from cairn.store.runs.loading import LoadedRun, RunFacts, has_run, insert_run, load_run, new_run
from cairn.store.runs.saving import save_events, save_run

__all__ = [
    "BoundedCache",
    "BrokenLink",
    "CheckpointPlace",
    "Connection",
    "DamagedBlob",
    "Database",
    "DatabaseClosed",
    "FolderLayout",
    "LoadedRun",
    "LostRace",
    "MissingBlob",
    "NewArtifact",
    "OldSqlite",
    "PlanCache",
    "PlanSource",
    "RunFacts",
    "StaleDispatch",
    "StoreError",
    "Unstorable",
    "UnsupportedSchema",
    "VerificationResult",
    "document",
    "find_artifacts",
    "has_run",
    "insert_run",
    "load_run",
    "new_run",
    "save_events",
    "save_lineage",
    "save_run",
    "verify",
]
