"""What Cairn keeps: tables, the one transaction, runs, contents and the trail."""

from cairn.store import bill_rows, blobs, events, message_rows, pipeline_rows, rule_rows
from cairn.store.artifact_rows import NewArtifact, find_artifacts
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
)
from cairn.store.lineage_rows import save_lineage
from cairn.store.plans import Kept, Layout, Place, Plans, PlanSource, document
from cairn.store.run_rows import Loaded, RunFacts, has_run, insert_run, load_run, new_run
from cairn.store.run_saving import save_run
from cairn.store.verification import Broken, Verdict, verify

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
    "bill_rows",
    "blobs",
    "document",
    "events",
    "find_artifacts",
    "has_run",
    "insert_run",
    "load_run",
    "message_rows",
    "new_run",
    "pipeline_rows",
    "rule_rows",
    "save_lineage",
    "save_run",
    "verify",
]
