"""What Cairn keeps: tables, the one transaction, runs, contents and the trail."""

from cairn.store import blobs, events, pipeline_rows
from cairn.store.artifact_rows import NewArtifact
from cairn.store.database import Database
from cairn.store.errors import (
    Closed,
    DamagedBlob,
    Fenced,
    LostRace,
    MissingBlob,
    NewerDatabase,
    StoreError,
    Unstorable,
    WrongCursor,
)
from cairn.store.plans import Layout, Place, Plans, PlanSource
from cairn.store.run_rows import Loaded, RunFacts, insert_run, load_run
from cairn.store.run_saving import save_run

__all__ = [
    "Closed",
    "DamagedBlob",
    "Database",
    "Fenced",
    "Layout",
    "Loaded",
    "LostRace",
    "MissingBlob",
    "NewArtifact",
    "NewerDatabase",
    "Place",
    "PlanSource",
    "Plans",
    "RunFacts",
    "StoreError",
    "Unstorable",
    "WrongCursor",
    "blobs",
    "events",
    "insert_run",
    "load_run",
    "pipeline_rows",
    "save_run",
]
