"""Content by checksum, and the artifacts, uploads and logs of executions."""

from __future__ import annotations

import sqlalchemy as sa

from cairn.store.column_types import BigInteger, one_of
from cairn.store.tables.metadata import flag, index, integer, json, metadata, references, size, text, timestamp

blobs = sa.Table(
    "blobs",
    metadata,
    text("checksum", primary_key=True),
    size("size"),
    integer("chunk_count"),  # 0 if the content is in `data`
    text("compression"),
    flag("complete"),  # false while chunks are being written
    timestamp("created_at"),  # or when it was last stored again; decides when unreferenced content is removed
    sa.Column("data", sa.LargeBinary, nullable=True),  # of small content
    one_of("compression", "none", "zlib"),
    sqlite_with_rowid=False,
)

blob_chunks = sa.Table(
    "blob_chunks",
    metadata,
    text("checksum", references("blobs.checksum"), primary_key=True),
    integer("number", primary_key=True, autoincrement=False),
    sa.Column("data", sa.LargeBinary, nullable=False),
)

artifacts = sa.Table(
    "artifacts",
    metadata,
    text("artifact_record_id", primary_key=True),
    text("execution_id", references("checkpoint_executions.execution_id")),
    text("run_id", references("pipeline_runs.run_id")),
    text("pipeline_id", references("pipelines.pipeline_id")),
    text("artifact_id"),  # of the declaration in the checkpoint
    text("artifact_name"),
    text("format"),
    text("artifact_type"),
    text("file_path"),
    size("size_bytes"),
    text("checksum", references("blobs.checksum")),
    timestamp("created_at"),
    timestamp("promoted_to_permanent_at", null=True),
    integer("attempt_number"),
    integer("revision_iteration"),
    timestamp("superseded_at", null=True),
    one_of("artifact_type", "file", "model_output", "error_context", "test_results", "verification_report"),
    index("ix_artifacts_of_execution", "execution_id"),
    index("ix_artifacts_of_run", "run_id", "created_at", "artifact_record_id"),
    index("ix_artifacts_of_pipeline", "pipeline_id", "created_at", "artifact_record_id"),
    index("ix_artifacts_content", "checksum"),
)

uploads = sa.Table(
    "uploads",
    metadata,
    text("upload_id", primary_key=True),
    text("execution_id", references("checkpoint_executions.execution_id")),
    text("field_id", null=True),
    text("filename"),
    text("media_type"),
    size("size_bytes"),
    text("checksum", references("blobs.checksum")),
    timestamp("created_at"),
    text("created_by"),
    index("ix_uploads_of_execution", "execution_id"),
    index("ix_uploads_content", "checksum"),
)

execution_logs = sa.Table(
    "execution_logs",
    metadata,
    sa.Column("log_id", BigInteger, primary_key=True, autoincrement=True),
    text("execution_id", references("checkpoint_executions.execution_id")),
    timestamp("timestamp"),
    text("level"),
    text("message"),
    json("details", null=True),
    one_of("level", "debug", "info", "warning", "error"),
    index("ix_execution_logs_of_execution", "execution_id", "log_id"),
    sqlite_autoincrement=True,
)
