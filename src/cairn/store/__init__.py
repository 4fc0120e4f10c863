"""What Cairn keeps: tables, the one transaction, runs, contents and the trail."""

from cairn.store.database.database import Database
from cairn.store.errors import (
    Closed,
    DamagedBlob,
    Fenced,
    LostRace,
    MissingBlob,
    NewerDatabase,
    StoreError,
    Unstorable,
)
from cairn.store.events.verification import Broken, Verdict, verify
from cairn.store.lineage import save_lineage
from cairn.store.plans import Kept, Layout, Place, Plans, PlanSource, document
from cairn.store.runs.artifacts import NewArtifact
from cairn.store.runs.loading import Loaded, RunFacts, has_run, insert_run, load_run, new_run
from cairn.store.runs.saving import save_run

__all__ = [
    "Broken",
    "Closed",
    "DamagedBlob",
    "Database",
    "Fenced",
    "Kept",
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
    "Verdict",
    "document",
    "has_run",
    "insert_run",
    "load_run",
    "new_run",
    "save_lineage",
    "save_run",
    "verify",
]
