"""Response shapes of artifacts and uploads."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from cairn.services.view import Checksum, Id, Instant, Page, View


class Artifact(View):
    artifact_record_id: Id
    artifact_id: Id
    execution_id: Id
    run_id: Id
    run_version: int | None
    checkpoint_id: Id
    checkpoint_name: str
    checkpoint_position: int
    artifact_name: str
    format: str
    media_type: str
    artifact_type: Literal["file", "model_output", "error_context", "test_results", "verification_report"]
    file_path: str
    size_bytes: int
    checksum: Checksum
    created_at: Instant
    promoted_to_permanent_at: Instant | None
    superseded_at: Annotated[Instant | None, Field(description="When a later artifact replaced it.")]
    is_stale: Annotated[bool, Field(description="True if an artifact it is based on has been replaced.")]


class ArtifactPage(Page[Artifact]):
    """Artifacts, oldest first."""


class Upload(View):
    upload_id: Id
    filename: str
    size_bytes: int
    checksum: Checksum
