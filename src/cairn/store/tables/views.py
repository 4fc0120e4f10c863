"""Views for reporting, in which executions are called jobs."""

from __future__ import annotations

from collections.abc import Iterator

import sqlalchemy as sa
from sqlalchemy import event

from cairn.store.tables.metadata import metadata

# Values inside JSON documents. PostgreSQL's jsonb would reject documents that json accepts, so cast to json.
STAGE_AT = {
    "sqlite": "json_extract(g.document, '$.checkpoints[' || {position} || '].{field}')",
    "postgresql": "CAST(g.document AS json) #>> ARRAY['checkpoints', CAST({position} AS text), '{field}']",
}
REWORK_FIELD = {
    "sqlite": "json_extract({of}.regression_context, '$.{field}')",
    "postgresql": "CAST({of}.regression_context AS json) ->> '{field}'",
}

ACTIVE_PIPELINES = """CREATE VIEW active_pipelines AS
SELECT
  r.pipeline_id AS pipeline_id,
  p.pipeline_name AS pipeline_name,
  r.run_id AS run_id,
  r.run_version AS run_version,
  r.original_prompt AS original_prompt,
  r.status AS status,
  coalesce({current_stage}, {current_key}) AS current_stage,
  count(e.execution_id) AS total_jobs,
  coalesce(sum(CASE WHEN e.status IN ('pending', 'waiting_approval_to_start') THEN 1 ELSE 0 END), 0) AS pending_jobs,
  coalesce(sum(CASE WHEN e.status IN ('in_progress', 'waiting_approval_to_complete') THEN 1 ELSE 0 END), 0)
    AS running_jobs,
  coalesce(sum(CASE WHEN e.status = 'completed' THEN 1 ELSE 0 END), 0) AS completed_jobs,
  coalesce(sum(CASE WHEN e.status = 'failed' THEN 1 ELSE 0 END), 0) AS failed_jobs,
  coalesce(sum(CASE WHEN e.status = 'cancelled' THEN 1 ELSE 0 END), 0) AS cancelled_jobs,
  r.created_at AS created_at,
  r.started_at AS started_at
FROM pipeline_runs r
JOIN pipelines p ON p.pipeline_id = r.pipeline_id
JOIN definition_revisions g ON g.pipeline_id = r.pipeline_id AND g.revision = r.definition_revision
LEFT JOIN checkpoint_executions e
  ON e.run_id = r.run_id AND e.pass_number = r.pass_number AND e.archived_by IS NULL
WHERE r.status IN ('in_progress', 'paused') AND r.archived_by IS NULL AND p.deleted_at IS NULL
GROUP BY r.run_id, p.pipeline_id, g.pipeline_id, g.revision"""

JOB_SUMMARY = """CREATE VIEW job_summary AS
SELECT
  e.execution_id AS job_id,
  r.pipeline_id AS pipeline_id,
  e.run_id AS run_id,
  r.run_version AS run_version,
  coalesce({stage}, e.key) AS stage,
  e.checkpoint_position AS checkpoint_position,
  e.key AS checkpoint_key,
  e.checkpoint_name AS checkpoint_name,
  coalesce(nullif({prompt}, ''), r.original_prompt) AS prompt,
  e.status AS status,
  e.pass_number AS pass_number,
  e.attempt_number AS attempt_number,
  e.parent_execution_id AS parent_job_id,
  e.regression_context AS regression_context,
  e.archived_by AS archived_by,
  (SELECT count(*) FROM artifacts a WHERE a.execution_id = e.execution_id) AS artifacts_produced,
  (SELECT count(DISTINCT c.artifact_record_id) FROM artifact_consumption c WHERE c.execution_id = e.execution_id)
    AS artifacts_consumed,
  e.created_at AS created_at,
  e.started_at AS started_at,
  e.completed_at AS completed_at
FROM checkpoint_executions e
JOIN pipeline_runs r ON r.run_id = e.run_id
JOIN definition_revisions g ON g.pipeline_id = r.pipeline_id AND g.revision = r.definition_revision"""

ARTIFACT_FLOW = """CREATE VIEW artifact_flow AS
SELECT
  a.pipeline_id AS pipeline_id,
  a.run_id AS run_id,
  a.artifact_record_id AS artifact_id,
  a.artifact_name AS artifact_name,
  a.artifact_type AS artifact_type,
  a.file_path AS file_path,
  p.execution_id AS producer_job_id,
  p.key AS producer_checkpoint,
  k.execution_id AS consumer_job_id,
  k.key AS consumer_checkpoint,
  k.run_id AS consumer_run_id,
  k.consumed_at AS consumed_at
FROM artifacts a
JOIN checkpoint_executions p ON p.execution_id = a.execution_id
LEFT JOIN (
  SELECT c.artifact_record_id, c.execution_id, e.key, e.run_id, min(c.consumed_at) AS consumed_at
  FROM artifact_consumption c
  JOIN checkpoint_executions e ON e.execution_id = c.execution_id
  GROUP BY c.artifact_record_id, c.execution_id, e.key, e.run_id
) k ON k.artifact_record_id = a.artifact_record_id"""

REGRESSION_CHAINS = """CREATE VIEW regression_chains AS
WITH RECURSIVE chain (root_job_id, job_id, depth) AS (
  SELECT e.execution_id, e.execution_id, 0
  FROM checkpoint_executions e
  WHERE EXISTS (SELECT 1 FROM checkpoint_executions s WHERE s.parent_execution_id = e.execution_id)
  UNION ALL
  SELECT chain.root_job_id, s.execution_id, chain.depth + 1
  FROM chain
  JOIN checkpoint_executions s ON s.parent_execution_id = chain.job_id
)
SELECT
  chain.root_job_id AS root_job_id,
  chain.job_id AS job_id,
  chain.depth AS depth,
  e.parent_execution_id AS parent_job_id,
  r.pipeline_id AS pipeline_id,
  e.run_id AS run_id,
  e.key AS checkpoint_key,
  e.status AS status,
  {prompt} AS prompt,
  {reason} AS reason,
  {requested_by} AS requested_by,
  e.created_at AS created_at
FROM chain
JOIN checkpoint_executions e ON e.execution_id = chain.job_id
JOIN pipeline_runs r ON r.run_id = e.run_id"""


def views(dialect: str) -> Iterator[str]:
    """Yield the CREATE VIEW statements of one dialect."""

    def at(position: str, field: str) -> str:
        return STAGE_AT[dialect].format(position=position, field=field)

    def rework_field(field: str) -> str:
        return REWORK_FIELD[dialect].format(of="e", field=field)

    current = "r.current_checkpoint_position"
    yield ACTIVE_PIPELINES.format(current_stage=at(current, "stage"), current_key=at(current, "key"))
    yield JOB_SUMMARY.format(stage=at("e.checkpoint_position", "stage"), prompt=rework_field("prompt"))
    yield ARTIFACT_FLOW
    yield REGRESSION_CHAINS.format(
        prompt=rework_field("prompt"), reason=rework_field("reason"), requested_by=rework_field("requested_by")
    )


for _dialect in STAGE_AT:
    for _statement in views(_dialect):
        event.listen(metadata, "after_create", sa.DDL(_statement.replace("%", "%%")).execute_if(dialect=_dialect))
