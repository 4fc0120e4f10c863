CREATE TABLE blobs (
  checksum TEXT NOT NULL,
  size BIGINT NOT NULL,
  chunk_count INTEGER NOT NULL,
  compression TEXT NOT NULL,
  complete BOOLEAN NOT NULL,
  created_at TIMESTAMP WITH TIME ZONE NOT NULL,
  data BYTEA,
  CONSTRAINT pk_blobs PRIMARY KEY (checksum),
  CONSTRAINT ck_blobs_compression_known CHECK (compression IN ('none', 'zlib'))
);

CREATE TABLE pipelines (
  pipeline_id TEXT NOT NULL,
  pipeline_name TEXT NOT NULL,
  pipeline_description TEXT NOT NULL,
  pipeline_definition_version INTEGER NOT NULL,
  revision INTEGER NOT NULL,
  checkpoint_order TEXT NOT NULL,
  auto_advance BOOLEAN NOT NULL,
  last_run_version INTEGER NOT NULL,
  created_at TIMESTAMP WITH TIME ZONE NOT NULL,
  updated_at TIMESTAMP WITH TIME ZONE NOT NULL,
  created_by TEXT NOT NULL,
  deleted_at TIMESTAMP WITH TIME ZONE,
  archive_location TEXT,
  event_seq INTEGER NOT NULL,
  event_head TEXT NOT NULL,
  CONSTRAINT pk_pipelines PRIMARY KEY (pipeline_id)
);

CREATE INDEX ix_pipelines_created ON pipelines (created_at, pipeline_id);

CREATE TABLE events (
  id BIGSERIAL NOT NULL,
  event_id TEXT NOT NULL,
  chain TEXT NOT NULL,
  seq INTEGER NOT NULL,
  event_type TEXT NOT NULL,
  pipeline_id TEXT NOT NULL,
  run_id TEXT,
  execution_id TEXT,
  checkpoint_id TEXT,
  approval_id TEXT,
  rollback_id TEXT,
  timestamp TIMESTAMP WITH TIME ZONE NOT NULL,
  actor TEXT NOT NULL,
  description TEXT NOT NULL,
  metadata TEXT NOT NULL,
  previous_hash TEXT NOT NULL,
  hash TEXT NOT NULL,
  CONSTRAINT pk_events PRIMARY KEY (id),
  CONSTRAINT uq_events_chain UNIQUE (chain, seq)
);

CREATE INDEX ix_events_of_pipeline ON events (pipeline_id, id);

CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'the trail is append-only'; END $$;

CREATE TRIGGER events_not_updated BEFORE UPDATE ON events FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

CREATE TRIGGER events_not_deleted BEFORE DELETE ON events FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

CREATE TRIGGER events_not_truncated BEFORE TRUNCATE ON events FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

CREATE TABLE chains (
  chain TEXT NOT NULL,
  event_seq INTEGER NOT NULL,
  event_head TEXT NOT NULL,
  CONSTRAINT pk_chains PRIMARY KEY (chain)
);

CREATE TABLE idempotency_keys (
  actor TEXT NOT NULL,
  key TEXT NOT NULL,
  method TEXT NOT NULL,
  path TEXT NOT NULL,
  request_digest TEXT NOT NULL,
  status INTEGER,
  response BYTEA,
  created_at TIMESTAMP WITH TIME ZONE NOT NULL,
  CONSTRAINT pk_idempotency_keys PRIMARY KEY (actor, key)
);

CREATE INDEX ix_idempotency_keys_created ON idempotency_keys (created_at);

CREATE TABLE users (
  name TEXT NOT NULL,
  display_name TEXT NOT NULL,
  email TEXT NOT NULL,
  roles TEXT NOT NULL,
  password_hash TEXT,
  created_at TIMESTAMP WITH TIME ZONE NOT NULL,
  created_by TEXT NOT NULL,
  last_signed_in_at TIMESTAMP WITH TIME ZONE,
  deleted_at TIMESTAMP WITH TIME ZONE,
  CONSTRAINT pk_users PRIMARY KEY (name)
);

CREATE UNIQUE INDEX ix_users_email ON users (email) WHERE email <> '';

CREATE TABLE groups (
  name TEXT NOT NULL,
  description TEXT NOT NULL,
  created_at TIMESTAMP WITH TIME ZONE NOT NULL,
  created_by TEXT NOT NULL,
  CONSTRAINT pk_groups PRIMARY KEY (name)
);

CREATE TABLE library_agents (
  name TEXT NOT NULL,
  revision INTEGER NOT NULL,
  document TEXT,
  updated_at TIMESTAMP WITH TIME ZONE NOT NULL,
  updated_by TEXT NOT NULL,
  CONSTRAINT pk_library_agents PRIMARY KEY (name, revision)
);

CREATE TABLE channels (
  channel_id TEXT NOT NULL,
  name TEXT NOT NULL,
  kind TEXT NOT NULL,
  is_enabled BOOLEAN NOT NULL,
  include_details BOOLEAN NOT NULL,
  notification_kinds TEXT NOT NULL,
  pipelines TEXT NOT NULL,
  recipients TEXT NOT NULL,
  host TEXT NOT NULL,
  fallback TEXT,
  revision INTEGER NOT NULL,
  created_at TIMESTAMP WITH TIME ZONE NOT NULL,
  created_by TEXT NOT NULL,
  updated_at TIMESTAMP WITH TIME ZONE NOT NULL,
  CONSTRAINT pk_channels PRIMARY KEY (channel_id),
  CONSTRAINT uq_channels_name UNIQUE (name),
  CONSTRAINT ck_channels_kind_known CHECK (kind IN ('teams', 'slack', 'email', 'webhook', 'apprise'))
);

CREATE TABLE notification_outbox (
  notification_id TEXT NOT NULL,
  kind TEXT NOT NULL,
  pipeline_id TEXT,
  run_id TEXT,
  execution_id TEXT,
  approval_id TEXT,
  actor TEXT NOT NULL,
  detail TEXT NOT NULL,
  created_at TIMESTAMP WITH TIME ZONE NOT NULL,
  content TEXT,
  CONSTRAINT pk_notification_outbox PRIMARY KEY (notification_id),
  CONSTRAINT ck_notification_outbox_kind_known CHECK (kind IN ('approval_requested', 'approval_reminder_due', 'approval_escalated', 'approval_assigned', 'approval_rejected', 'approval_timeout', 'approval_auto_approved', 'execution_failed', 'run_failed', 'budget_warning', 'budget_exhausted', 'run_completed', 'test'))
);

CREATE INDEX ix_notification_outbox_created ON notification_outbox (created_at);

CREATE TABLE notification_preferences (
  "user" TEXT NOT NULL,
  channels TEXT,
  notification_kinds TEXT,
  quiet_hours TEXT,
  updated_at TIMESTAMP WITH TIME ZONE NOT NULL,
  CONSTRAINT pk_notification_preferences PRIMARY KEY ("user")
);

CREATE TABLE rule_versions (
  scope TEXT NOT NULL,
  revision INTEGER NOT NULL,
  text TEXT NOT NULL,
  digest TEXT NOT NULL,
  created_by TEXT NOT NULL,
  comment TEXT NOT NULL,
  created_at TIMESTAMP WITH TIME ZONE NOT NULL,
  CONSTRAINT pk_rule_versions PRIMARY KEY (scope, revision)
);

CREATE TABLE active_rules (
  scope TEXT NOT NULL,
  revision INTEGER NOT NULL,
  stopped BOOLEAN NOT NULL,
  CONSTRAINT pk_active_rules PRIMARY KEY (scope)
);

CREATE TABLE emergency_stops (
  number INTEGER NOT NULL,
  stopped BOOLEAN NOT NULL,
  reason TEXT NOT NULL,
  by TEXT NOT NULL,
  at TIMESTAMP WITH TIME ZONE NOT NULL,
  CONSTRAINT pk_emergency_stops PRIMARY KEY (number)
);

CREATE TABLE secrets (
  name TEXT NOT NULL,
  ciphertext TEXT NOT NULL,
  created_at TIMESTAMP WITH TIME ZONE NOT NULL,
  created_by TEXT NOT NULL,
  updated_at TIMESTAMP WITH TIME ZONE NOT NULL,
  updated_by TEXT NOT NULL,
  CONSTRAINT pk_secrets PRIMARY KEY (name)
);

CREATE TABLE settings (
  key TEXT NOT NULL,
  value TEXT,
  CONSTRAINT pk_settings PRIMARY KEY (key)
);

CREATE TABLE summaries (
  checksum TEXT NOT NULL,
  model TEXT NOT NULL,
  summary TEXT NOT NULL,
  created_at TIMESTAMP WITH TIME ZONE NOT NULL,
  CONSTRAINT pk_summaries PRIMARY KEY (checksum, model)
);

CREATE TABLE blob_chunks (
  checksum TEXT NOT NULL,
  number INTEGER NOT NULL,
  data BYTEA NOT NULL,
  CONSTRAINT pk_blob_chunks PRIMARY KEY (checksum, number),
  CONSTRAINT fk_blob_chunks_checksum FOREIGN KEY(checksum) REFERENCES blobs (checksum)
);

CREATE TABLE model_calls (
  call_id BIGSERIAL NOT NULL,
  pipeline_id TEXT NOT NULL,
  run_id TEXT NOT NULL,
  execution_id TEXT NOT NULL,
  checkpoint_id TEXT NOT NULL,
  checkpoint_key TEXT NOT NULL,
  is_test BOOLEAN NOT NULL,
  attempt_key TEXT NOT NULL,
  turn TEXT NOT NULL,
  number INTEGER NOT NULL,
  dispatch_number INTEGER NOT NULL,
  attempt INTEGER NOT NULL,
  purpose TEXT NOT NULL,
  model TEXT NOT NULL,
  is_simulated BOOLEAN NOT NULL,
  input_tokens BIGINT NOT NULL,
  output_tokens BIGINT NOT NULL,
  cache_read_tokens BIGINT NOT NULL,
  cache_write_tokens BIGINT NOT NULL,
  cost_nano_usd BIGINT,
  day TEXT NOT NULL,
  called_at TIMESTAMP WITH TIME ZONE NOT NULL,
  seconds DOUBLE PRECISION NOT NULL,
  CONSTRAINT pk_model_calls PRIMARY KEY (call_id),
  CONSTRAINT uq_model_calls_execution_id UNIQUE (execution_id, attempt_key, turn, number, dispatch_number, attempt),
  CONSTRAINT ck_model_calls_purpose_known CHECK (purpose IN ('work', 'design', 'judge', 'summary', 'questions')),
  CONSTRAINT fk_model_calls_pipeline_id FOREIGN KEY(pipeline_id) REFERENCES pipelines (pipeline_id)
);

CREATE INDEX ix_model_calls_of_pipeline ON model_calls (pipeline_id, day);

CREATE INDEX ix_model_calls_of_run ON model_calls (run_id);

CREATE INDEX ix_model_calls_of_day ON model_calls (day);

CREATE TABLE definition_revisions (
  pipeline_id TEXT NOT NULL,
  revision INTEGER NOT NULL,
  pipeline_definition_version INTEGER NOT NULL,
  document TEXT NOT NULL,
  created_by TEXT NOT NULL,
  comment TEXT NOT NULL,
  created_at TIMESTAMP WITH TIME ZONE NOT NULL,
  digest TEXT NOT NULL,
  CONSTRAINT pk_definition_revisions PRIMARY KEY (pipeline_id, revision),
  CONSTRAINT fk_definition_revisions_pipeline_id FOREIGN KEY(pipeline_id) REFERENCES pipelines (pipeline_id)
);

CREATE TABLE checkpoint_definitions (
  checkpoint_id TEXT NOT NULL,
  pipeline_id TEXT NOT NULL,
  key TEXT NOT NULL,
  position INTEGER NOT NULL,
  checkpoint_name TEXT NOT NULL,
  checkpoint_description TEXT NOT NULL,
  dependencies TEXT,
  inputs TEXT,
  execution TEXT,
  human_interaction TEXT,
  output TEXT,
  instructions TEXT,
  created_at TIMESTAMP WITH TIME ZONE NOT NULL,
  updated_at TIMESTAMP WITH TIME ZONE NOT NULL,
  removed_at TIMESTAMP WITH TIME ZONE,
  CONSTRAINT pk_checkpoint_definitions PRIMARY KEY (checkpoint_id),
  CONSTRAINT fk_checkpoint_definitions_pipeline_id FOREIGN KEY(pipeline_id) REFERENCES pipelines (pipeline_id)
);

CREATE INDEX ix_checkpoint_definitions_pipeline ON checkpoint_definitions (pipeline_id, position);

CREATE TABLE user_identities (
  provider TEXT NOT NULL,
  subject TEXT NOT NULL,
  user_name TEXT NOT NULL,
  created_at TIMESTAMP WITH TIME ZONE NOT NULL,
  CONSTRAINT pk_user_identities PRIMARY KEY (provider, subject),
  CONSTRAINT fk_user_identities_user_name FOREIGN KEY(user_name) REFERENCES users (name)
);

CREATE INDEX ix_user_identities_of_user ON user_identities (user_name);

CREATE TABLE group_members (
  group_name TEXT NOT NULL,
  user_name TEXT NOT NULL,
  CONSTRAINT pk_group_members PRIMARY KEY (group_name, user_name),
  CONSTRAINT fk_group_members_group_name FOREIGN KEY(group_name) REFERENCES groups (name),
  CONSTRAINT fk_group_members_user_name FOREIGN KEY(user_name) REFERENCES users (name)
);

CREATE INDEX ix_group_members_of_user ON group_members (user_name);

CREATE TABLE invitations (
  invitation_id TEXT NOT NULL,
  token_digest TEXT NOT NULL,
  user_name TEXT NOT NULL,
  created_at TIMESTAMP WITH TIME ZONE NOT NULL,
  created_by TEXT NOT NULL,
  expires_at TIMESTAMP WITH TIME ZONE NOT NULL,
  accepted_at TIMESTAMP WITH TIME ZONE,
  revoked_at TIMESTAMP WITH TIME ZONE,
  CONSTRAINT pk_invitations PRIMARY KEY (invitation_id),
  CONSTRAINT uq_invitations_token_digest UNIQUE (token_digest),
  CONSTRAINT fk_invitations_user_name FOREIGN KEY(user_name) REFERENCES users (name)
);

CREATE INDEX ix_invitations_of_user ON invitations (user_name);

CREATE INDEX ix_invitations_created ON invitations (created_at, invitation_id);

CREATE TABLE delegations (
  delegation_id TEXT NOT NULL,
  from_user TEXT NOT NULL,
  to_user TEXT NOT NULL,
  reason TEXT NOT NULL,
  starts_at TIMESTAMP WITH TIME ZONE NOT NULL,
  ends_at TIMESTAMP WITH TIME ZONE NOT NULL,
  created_at TIMESTAMP WITH TIME ZONE NOT NULL,
  created_by TEXT NOT NULL,
  ended_at TIMESTAMP WITH TIME ZONE,
  ended_by TEXT,
  CONSTRAINT pk_delegations PRIMARY KEY (delegation_id),
  CONSTRAINT fk_delegations_from_user FOREIGN KEY(from_user) REFERENCES users (name),
  CONSTRAINT fk_delegations_to_user FOREIGN KEY(to_user) REFERENCES users (name)
);

CREATE INDEX ix_delegations_to ON delegations (to_user);

CREATE INDEX ix_delegations_from ON delegations (from_user);

CREATE INDEX ix_delegations_created ON delegations (created_at, delegation_id);

CREATE TABLE deliveries (
  delivery_id TEXT NOT NULL,
  notification_id TEXT NOT NULL,
  channel_id TEXT,
  channel TEXT NOT NULL,
  channel_kind TEXT NOT NULL,
  recipient TEXT NOT NULL,
  status TEXT NOT NULL,
  attempt_count INTEGER NOT NULL,
  possible_duplicate BOOLEAN NOT NULL,
  response TEXT NOT NULL,
  fallback_of TEXT,
  created_at TIMESTAMP WITH TIME ZONE NOT NULL,
  due_at TIMESTAMP WITH TIME ZONE NOT NULL,
  ended_at TIMESTAMP WITH TIME ZONE,
  CONSTRAINT pk_deliveries PRIMARY KEY (delivery_id),
  CONSTRAINT uq_deliveries_notification_id UNIQUE (notification_id, channel, recipient),
  CONSTRAINT ck_deliveries_status_known CHECK (status IN ('queued', 'sending', 'sent', 'unknown', 'failed', 'skipped')),
  CONSTRAINT fk_deliveries_notification_id FOREIGN KEY(notification_id) REFERENCES notification_outbox (notification_id),
  CONSTRAINT fk_deliveries_fallback_of FOREIGN KEY(fallback_of) REFERENCES deliveries (delivery_id)
);

CREATE INDEX ix_deliveries_created ON deliveries (created_at, delivery_id);

CREATE INDEX ix_deliveries_open ON deliveries (notification_id) WHERE status IN ('queued', 'sending');

CREATE TABLE pipeline_runs (
  run_id TEXT NOT NULL,
  pipeline_id TEXT NOT NULL,
  pipeline_definition_version INTEGER NOT NULL,
  definition_revision INTEGER NOT NULL,
  run_version INTEGER,
  is_test BOOLEAN NOT NULL,
  status TEXT NOT NULL,
  pause_requested BOOLEAN NOT NULL,
  pass_number INTEGER NOT NULL,
  restart_count INTEGER NOT NULL,
  current_checkpoint_id TEXT,
  current_checkpoint_position INTEGER,
  total_checkpoints INTEGER NOT NULL,
  completed_checkpoints INTEGER NOT NULL,
  failed_checkpoints INTEGER NOT NULL,
  previous_run_id TEXT,
  extends_from_run_version INTEGER,
  original_prompt TEXT NOT NULL,
  input_checksum TEXT,
  created_by TEXT NOT NULL,
  created_at TIMESTAMP WITH TIME ZONE NOT NULL,
  started_at TIMESTAMP WITH TIME ZONE,
  completed_at TIMESTAMP WITH TIME ZONE,
  paused_at TIMESTAMP WITH TIME ZONE,
  last_resumed_at TIMESTAMP WITH TIME ZONE,
  reworks INTEGER NOT NULL,
  created_count INTEGER NOT NULL,
  timer_generation INTEGER NOT NULL,
  active_since TIMESTAMP WITH TIME ZONE,
  active_seconds DOUBLE PRECISION NOT NULL,
  archived_by TEXT,
  rollbacks TEXT NOT NULL,
  revision INTEGER NOT NULL,
  event_seq INTEGER NOT NULL,
  event_head TEXT NOT NULL,
  synced_revision INTEGER NOT NULL,
  budget TEXT,
  over_budget TEXT DEFAULT '' NOT NULL,
  budget_warned BOOLEAN DEFAULT false NOT NULL,
  CONSTRAINT pk_pipeline_runs PRIMARY KEY (run_id),
  CONSTRAINT uq_pipeline_runs_pipeline_id UNIQUE (pipeline_id, pipeline_definition_version, run_version),
  CONSTRAINT ck_pipeline_runs_status_known CHECK (status IN ('not_started', 'in_progress', 'paused', 'completed', 'failed', 'cancelled')),
  CONSTRAINT fk_pipeline_runs_pipeline_id FOREIGN KEY(pipeline_id) REFERENCES pipelines (pipeline_id),
  CONSTRAINT fk_pipeline_runs_previous_run_id FOREIGN KEY(previous_run_id) REFERENCES pipeline_runs (run_id),
  CONSTRAINT fk_pipeline_runs_input_checksum FOREIGN KEY(input_checksum) REFERENCES blobs (checksum)
);

CREATE INDEX ix_pipeline_runs_created ON pipeline_runs (created_at, run_id);

CREATE INDEX ix_pipeline_runs_active ON pipeline_runs (active_since) WHERE active_since IS NOT NULL;

CREATE INDEX ix_pipeline_runs_of_pipeline ON pipeline_runs (pipeline_id, created_at, run_id);

CREATE INDEX ix_pipeline_runs_open ON pipeline_runs (status) WHERE status IN ('not_started', 'in_progress', 'paused');

CREATE INDEX ix_pipeline_runs_input ON pipeline_runs (input_checksum) WHERE input_checksum IS NOT NULL;

CREATE TABLE definition_scripts (
  pipeline_id TEXT NOT NULL,
  revision INTEGER NOT NULL,
  path TEXT NOT NULL,
  checksum TEXT NOT NULL,
  size_bytes BIGINT NOT NULL,
  CONSTRAINT pk_definition_scripts PRIMARY KEY (pipeline_id, revision, path),
  CONSTRAINT fk_definition_scripts_pipeline_id FOREIGN KEY(pipeline_id) REFERENCES pipelines (pipeline_id),
  CONSTRAINT fk_definition_scripts_checksum FOREIGN KEY(checksum) REFERENCES blobs (checksum)
);

CREATE INDEX ix_definition_scripts_content ON definition_scripts (checksum);

CREATE TABLE api_tokens (
  token_digest TEXT NOT NULL,
  token_id TEXT NOT NULL,
  user_name TEXT NOT NULL,
  name TEXT NOT NULL,
  scopes TEXT,
  created_at TIMESTAMP WITH TIME ZONE NOT NULL,
  created_by TEXT NOT NULL,
  expires_at TIMESTAMP WITH TIME ZONE,
  last_used_at TIMESTAMP WITH TIME ZONE,
  revoked_at TIMESTAMP WITH TIME ZONE,
  CONSTRAINT pk_api_tokens PRIMARY KEY (token_digest),
  CONSTRAINT uq_api_tokens_token_id UNIQUE (token_id),
  CONSTRAINT fk_api_tokens_user_name FOREIGN KEY(user_name) REFERENCES users (name)
);

CREATE INDEX ix_api_tokens_created ON api_tokens (created_at, token_id);

CREATE INDEX ix_api_tokens_of_user ON api_tokens (user_name);

CREATE TABLE sessions (
  session_digest TEXT NOT NULL,
  session_id TEXT NOT NULL,
  user_name TEXT NOT NULL,
  signed_in_with TEXT NOT NULL,
  token_id TEXT,
  scopes TEXT,
  address TEXT NOT NULL,
  user_agent TEXT NOT NULL,
  created_at TIMESTAMP WITH TIME ZONE NOT NULL,
  expires_at TIMESTAMP WITH TIME ZONE NOT NULL,
  ends_at TIMESTAMP WITH TIME ZONE,
  CONSTRAINT pk_sessions PRIMARY KEY (session_digest),
  CONSTRAINT uq_sessions_session_id UNIQUE (session_id),
  CONSTRAINT fk_sessions_user_name FOREIGN KEY(user_name) REFERENCES users (name)
);

CREATE INDEX ix_sessions_created ON sessions (created_at, session_id);

CREATE INDEX ix_sessions_of_user ON sessions (user_name);

CREATE INDEX ix_sessions_expires ON sessions (expires_at);

CREATE TABLE delivery_attempts (
  delivery_id TEXT NOT NULL,
  number INTEGER NOT NULL,
  started_at TIMESTAMP WITH TIME ZONE NOT NULL,
  ended_at TIMESTAMP WITH TIME ZONE,
  outcome TEXT,
  response TEXT NOT NULL,
  CONSTRAINT pk_delivery_attempts PRIMARY KEY (delivery_id, number),
  CONSTRAINT ck_delivery_attempts_outcome_known CHECK (outcome IN ('sent', 'not_sent', 'unknown')),
  CONSTRAINT fk_delivery_attempts_delivery_id FOREIGN KEY(delivery_id) REFERENCES deliveries (delivery_id)
);

CREATE TABLE rollback_events (
  rollback_id TEXT NOT NULL,
  pipeline_id TEXT NOT NULL,
  rollback_type TEXT NOT NULL,
  source_run_id TEXT NOT NULL,
  source_run_version INTEGER,
  target_run_id TEXT,
  target_run_version INTEGER,
  target_checkpoint_id TEXT,
  target_checkpoint_position INTEGER,
  archive_location TEXT NOT NULL,
  triggered_by TEXT NOT NULL,
  user_reason TEXT NOT NULL,
  created_at TIMESTAMP WITH TIME ZONE NOT NULL,
  created_by TEXT NOT NULL,
  rolled_back_items TEXT NOT NULL,
  undone_at TIMESTAMP WITH TIME ZONE,
  files_synced BOOLEAN NOT NULL,
  CONSTRAINT pk_rollback_events PRIMARY KEY (rollback_id),
  CONSTRAINT ck_rollback_events_rollback_type_known CHECK (rollback_type IN ('checkpoint_level', 'run_level')),
  CONSTRAINT ck_rollback_events_triggered_by_known CHECK (triggered_by IN ('user_request', 'checkpoint_failure')),
  CONSTRAINT fk_rollback_events_pipeline_id FOREIGN KEY(pipeline_id) REFERENCES pipelines (pipeline_id),
  CONSTRAINT fk_rollback_events_source_run_id FOREIGN KEY(source_run_id) REFERENCES pipeline_runs (run_id),
  CONSTRAINT fk_rollback_events_target_run_id FOREIGN KEY(target_run_id) REFERENCES pipeline_runs (run_id)
);

CREATE INDEX ix_rollback_events_created ON rollback_events (created_at, rollback_id);

CREATE INDEX ix_rollback_events_of_source ON rollback_events (source_run_id);

CREATE INDEX ix_rollback_events_of_pipeline ON rollback_events (pipeline_id, created_at, rollback_id);

CREATE TABLE checkpoint_executions (
  execution_id TEXT NOT NULL,
  run_id TEXT NOT NULL,
  checkpoint_id TEXT NOT NULL,
  key TEXT NOT NULL,
  checkpoint_name TEXT NOT NULL,
  folder TEXT NOT NULL,
  checkpoint_position INTEGER NOT NULL,
  pass_number INTEGER NOT NULL,
  ordinal INTEGER NOT NULL,
  definition_revision INTEGER NOT NULL,
  status TEXT NOT NULL,
  state TEXT NOT NULL,
  waiting_on TEXT,
  dispatch_number INTEGER NOT NULL,
  driver TEXT,
  attempt_number INTEGER NOT NULL,
  max_attempts INTEGER NOT NULL,
  revision_iteration INTEGER NOT NULL,
  max_revision_iterations INTEGER NOT NULL,
  retries_used INTEGER NOT NULL,
  validations_used INTEGER NOT NULL,
  interruptions INTEGER NOT NULL,
  start_approved BOOLEAN NOT NULL,
  answered BOOLEAN NOT NULL,
  answer_checksum TEXT,
  manual_start BOOLEAN NOT NULL,
  requires_new_approval BOOLEAN NOT NULL,
  digest TEXT,
  outputs TEXT NOT NULL,
  pass_decision TEXT,
  is_rework BOOLEAN NOT NULL,
  parent_execution_id TEXT,
  pending_rework TEXT,
  regression_context TEXT,
  archived_by TEXT,
  has_workspace BOOLEAN NOT NULL,
  error_count INTEGER NOT NULL,
  last_error TEXT,
  last_error_at TIMESTAMP WITH TIME ZONE,
  context_checksum TEXT,
  progress TEXT,
  temp_workspace_path TEXT NOT NULL,
  permanent_output_path TEXT NOT NULL,
  created_at TIMESTAMP WITH TIME ZONE,
  started_at TIMESTAMP WITH TIME ZONE,
  completed_at TIMESTAMP WITH TIME ZONE,
  failed_at TIMESTAMP WITH TIME ZONE,
  due_at TIMESTAMP WITH TIME ZONE,
  active_since TIMESTAMP WITH TIME ZONE,
  active_seconds DOUBLE PRECISION NOT NULL,
  sandbox TEXT,
  action_outcome_unknown BOOLEAN DEFAULT false NOT NULL,
  CONSTRAINT pk_checkpoint_executions PRIMARY KEY (execution_id),
  CONSTRAINT uq_checkpoint_executions_run_id UNIQUE (run_id, ordinal),
  CONSTRAINT ck_checkpoint_executions_status_known CHECK (status IN ('pending', 'waiting_approval_to_start', 'in_progress', 'waiting_approval_to_complete', 'completed', 'failed', 'cancelled')),
  CONSTRAINT ck_checkpoint_executions_state_known CHECK (state IN ('pending', 'waiting_approval_to_start', 'ready', 'working', 'waiting', 'waiting_approval_to_complete', 'completed', 'failed', 'cancelled')),
  CONSTRAINT ck_checkpoint_executions_waiting_on_known CHECK (waiting_on IN ('human_form', 'script_input', 'action_approval', 'validation_feedback', 'question', 'escalation', 'rework', 'retry_delay', 'external_blocker')),
  CONSTRAINT ck_checkpoint_executions_pass_decision_known CHECK (pass_decision IN ('COMPLETE', 'RESTART', 'ESCALATE')),
  CONSTRAINT fk_checkpoint_executions_run_id FOREIGN KEY(run_id) REFERENCES pipeline_runs (run_id),
  CONSTRAINT fk_checkpoint_executions_checkpoint_id FOREIGN KEY(checkpoint_id) REFERENCES checkpoint_definitions (checkpoint_id),
  CONSTRAINT fk_checkpoint_executions_answer_checksum FOREIGN KEY(answer_checksum) REFERENCES blobs (checksum),
  CONSTRAINT fk_checkpoint_executions_parent_execution_id FOREIGN KEY(parent_execution_id) REFERENCES checkpoint_executions (execution_id),
  CONSTRAINT fk_checkpoint_executions_context_checksum FOREIGN KEY(context_checksum) REFERENCES blobs (checksum)
);

CREATE INDEX ix_checkpoint_executions_context ON checkpoint_executions (context_checksum) WHERE context_checksum IS NOT NULL;

CREATE INDEX ix_checkpoint_executions_answer ON checkpoint_executions (answer_checksum) WHERE answer_checksum IS NOT NULL;

CREATE INDEX ix_checkpoint_executions_parent ON checkpoint_executions (parent_execution_id) WHERE parent_execution_id IS NOT NULL;

CREATE TABLE artifacts (
  artifact_record_id TEXT NOT NULL,
  execution_id TEXT NOT NULL,
  run_id TEXT NOT NULL,
  pipeline_id TEXT NOT NULL,
  artifact_id TEXT NOT NULL,
  artifact_name TEXT NOT NULL,
  format TEXT NOT NULL,
  artifact_type TEXT NOT NULL,
  file_path TEXT NOT NULL,
  size_bytes BIGINT NOT NULL,
  checksum TEXT NOT NULL,
  created_at TIMESTAMP WITH TIME ZONE NOT NULL,
  promoted_to_permanent_at TIMESTAMP WITH TIME ZONE,
  attempt_number INTEGER NOT NULL,
  revision_iteration INTEGER NOT NULL,
  superseded_at TIMESTAMP WITH TIME ZONE,
  CONSTRAINT pk_artifacts PRIMARY KEY (artifact_record_id),
  CONSTRAINT ck_artifacts_artifact_type_known CHECK (artifact_type IN ('file', 'model_output', 'error_context', 'test_results', 'verification_report')),
  CONSTRAINT fk_artifacts_execution_id FOREIGN KEY(execution_id) REFERENCES checkpoint_executions (execution_id),
  CONSTRAINT fk_artifacts_run_id FOREIGN KEY(run_id) REFERENCES pipeline_runs (run_id),
  CONSTRAINT fk_artifacts_pipeline_id FOREIGN KEY(pipeline_id) REFERENCES pipelines (pipeline_id),
  CONSTRAINT fk_artifacts_checksum FOREIGN KEY(checksum) REFERENCES blobs (checksum)
);

CREATE INDEX ix_artifacts_of_run ON artifacts (run_id, created_at, artifact_record_id);

CREATE INDEX ix_artifacts_content ON artifacts (checksum);

CREATE INDEX ix_artifacts_of_execution ON artifacts (execution_id);

CREATE INDEX ix_artifacts_of_pipeline ON artifacts (pipeline_id, created_at, artifact_record_id);

CREATE TABLE uploads (
  upload_id TEXT NOT NULL,
  execution_id TEXT NOT NULL,
  field_id TEXT,
  filename TEXT NOT NULL,
  media_type TEXT NOT NULL,
  size_bytes BIGINT NOT NULL,
  checksum TEXT NOT NULL,
  created_at TIMESTAMP WITH TIME ZONE NOT NULL,
  created_by TEXT NOT NULL,
  CONSTRAINT pk_uploads PRIMARY KEY (upload_id),
  CONSTRAINT fk_uploads_execution_id FOREIGN KEY(execution_id) REFERENCES checkpoint_executions (execution_id),
  CONSTRAINT fk_uploads_checksum FOREIGN KEY(checksum) REFERENCES blobs (checksum)
);

CREATE INDEX ix_uploads_of_execution ON uploads (execution_id);

CREATE INDEX ix_uploads_content ON uploads (checksum);

CREATE TABLE execution_logs (
  log_id BIGSERIAL NOT NULL,
  execution_id TEXT NOT NULL,
  timestamp TIMESTAMP WITH TIME ZONE NOT NULL,
  level TEXT NOT NULL,
  message TEXT NOT NULL,
  details TEXT,
  CONSTRAINT pk_execution_logs PRIMARY KEY (log_id),
  CONSTRAINT ck_execution_logs_level_known CHECK (level IN ('debug', 'info', 'warning', 'error')),
  CONSTRAINT fk_execution_logs_execution_id FOREIGN KEY(execution_id) REFERENCES checkpoint_executions (execution_id)
);

CREATE INDEX ix_execution_logs_of_execution ON execution_logs (execution_id, log_id);

CREATE TABLE messages (
  message_id BIGSERIAL NOT NULL,
  run_id TEXT NOT NULL,
  execution_id TEXT NOT NULL,
  attempt_key TEXT NOT NULL,
  turn TEXT NOT NULL,
  number INTEGER NOT NULL,
  dispatch_number INTEGER NOT NULL,
  speaker TEXT NOT NULL,
  role TEXT NOT NULL,
  purpose TEXT NOT NULL,
  model TEXT,
  is_simulated BOOLEAN NOT NULL,
  is_last BOOLEAN NOT NULL,
  sent_at TIMESTAMP WITH TIME ZONE NOT NULL,
  stored_at TIMESTAMP WITH TIME ZONE NOT NULL,
  seconds DOUBLE PRECISION NOT NULL,
  text TEXT NOT NULL,
  tools TEXT,
  message TEXT NOT NULL,
  CONSTRAINT pk_messages PRIMARY KEY (message_id),
  CONSTRAINT uq_messages_execution_id UNIQUE (execution_id, attempt_key, turn, number),
  CONSTRAINT ck_messages_role_known CHECK (role IN ('system', 'user', 'assistant', 'tool')),
  CONSTRAINT ck_messages_purpose_known CHECK (purpose IN ('work', 'design', 'judge', 'summary', 'questions')),
  CONSTRAINT fk_messages_run_id FOREIGN KEY(run_id) REFERENCES pipeline_runs (run_id),
  CONSTRAINT fk_messages_execution_id FOREIGN KEY(execution_id) REFERENCES checkpoint_executions (execution_id)
);

CREATE INDEX ix_messages_of_execution ON messages (execution_id, message_id);

CREATE INDEX ix_messages_of_run ON messages (run_id, message_id);

CREATE TABLE job_dependencies (
  execution_id TEXT NOT NULL,
  depends_on_execution_id TEXT NOT NULL,
  dependency_type TEXT NOT NULL,
  CONSTRAINT pk_job_dependencies PRIMARY KEY (execution_id, depends_on_execution_id),
  CONSTRAINT ck_job_dependencies_dependency_type_known CHECK (dependency_type IN ('success')),
  CONSTRAINT fk_job_dependencies_execution_id FOREIGN KEY(execution_id) REFERENCES checkpoint_executions (execution_id)
);

CREATE TABLE archived_items (
  archive_item_id TEXT NOT NULL,
  rollback_id TEXT NOT NULL,
  item_type TEXT NOT NULL,
  item_id TEXT NOT NULL,
  original_path TEXT NOT NULL,
  archived_path TEXT NOT NULL,
  size_bytes BIGINT NOT NULL,
  CONSTRAINT pk_archived_items PRIMARY KEY (archive_item_id),
  CONSTRAINT ck_archived_items_item_type_known CHECK (item_type IN ('run', 'execution', 'artifact')),
  CONSTRAINT fk_archived_items_rollback_id FOREIGN KEY(rollback_id) REFERENCES rollback_events (rollback_id)
);

CREATE INDEX ix_archived_items_of_rollback ON archived_items (rollback_id);

CREATE TABLE approvals (
  approval_id TEXT NOT NULL,
  run_id TEXT NOT NULL,
  execution_id TEXT NOT NULL,
  pipeline_id TEXT NOT NULL,
  ordinal INTEGER NOT NULL,
  kind TEXT NOT NULL,
  waiting_on TEXT,
  status TEXT NOT NULL,
  digest TEXT NOT NULL,
  required_approvals INTEGER NOT NULL,
  period INTEGER NOT NULL,
  requested_at TIMESTAMP WITH TIME ZONE NOT NULL,
  expires_at TIMESTAMP WITH TIME ZONE,
  closed_at TIMESTAMP WITH TIME ZONE,
  reason TEXT NOT NULL,
  attempt_number INTEGER NOT NULL,
  reused_from TEXT,
  terms TEXT,
  assigned_to TEXT,
  reminded_period INTEGER DEFAULT '0' NOT NULL,
  escalated BOOLEAN DEFAULT false NOT NULL,
  rule TEXT,
  rule_scope TEXT,
  rules_revision INTEGER,
  evaluated_rules TEXT,
  priority INTEGER DEFAULT '100' NOT NULL,
  audit BOOLEAN DEFAULT false NOT NULL,
  operation_type TEXT,
  risk_level TEXT,
  risk_order INTEGER DEFAULT '4' NOT NULL,
  confidence DOUBLE PRECISION,
  CONSTRAINT pk_approvals PRIMARY KEY (approval_id),
  CONSTRAINT uq_approvals_run_id UNIQUE (run_id, ordinal),
  CONSTRAINT ck_approvals_kind_known CHECK (kind IN ('start', 'completion', 'action', 'validation', 'escalation', 'input')),
  CONSTRAINT ck_approvals_waiting_on_known CHECK (waiting_on IN ('human_form', 'script_input', 'action_approval', 'validation_feedback', 'question', 'escalation', 'rework', 'retry_delay', 'external_blocker')),
  CONSTRAINT ck_approvals_status_known CHECK (status IN ('pending', 'approved', 'auto_approved', 'rejected', 'revision_requested', 'timeout', 'withdrawn')),
  CONSTRAINT ck_approvals_risk_level_known CHECK (risk_level IN ('low', 'medium', 'high', 'critical')),
  CONSTRAINT fk_approvals_run_id FOREIGN KEY(run_id) REFERENCES pipeline_runs (run_id),
  CONSTRAINT fk_approvals_execution_id FOREIGN KEY(execution_id) REFERENCES checkpoint_executions (execution_id),
  CONSTRAINT fk_approvals_pipeline_id FOREIGN KEY(pipeline_id) REFERENCES pipelines (pipeline_id),
  CONSTRAINT fk_approvals_reused_from FOREIGN KEY(reused_from) REFERENCES approvals (approval_id)
);

CREATE INDEX ix_approvals_due ON approvals (expires_at, requested_at, approval_id) WHERE status = 'pending';

CREATE INDEX ix_approvals_waiting ON approvals (pipeline_id, run_id) WHERE status = 'pending';

CREATE INDEX ix_approvals_by_risk ON approvals (risk_order, requested_at, approval_id) WHERE status = 'pending';

CREATE INDEX ix_approvals_of_execution ON approvals (execution_id);

CREATE INDEX ix_approvals_by_priority ON approvals (priority, requested_at, approval_id) WHERE status = 'pending';

CREATE INDEX ix_approvals_by_operation ON approvals (operation_type, requested_at) WHERE operation_type IS NOT NULL;

CREATE INDEX ix_approvals_by_rule ON approvals (rule_scope, rule, requested_at) WHERE rule IS NOT NULL;

CREATE INDEX ix_approvals_requested ON approvals (requested_at, approval_id);

CREATE INDEX ix_approvals_pending ON approvals (requested_at, approval_id) WHERE status = 'pending';

CREATE INDEX ix_approvals_sampled ON approvals (requested_at, approval_id) WHERE audit;

CREATE TABLE execution_calls (
  execution_id TEXT NOT NULL,
  revision_iteration INTEGER NOT NULL,
  number INTEGER NOT NULL,
  kind TEXT NOT NULL,
  arguments TEXT NOT NULL,
  digest TEXT NOT NULL,
  inputs_checksum TEXT,
  requested_at TIMESTAMP WITH TIME ZONE NOT NULL,
  CONSTRAINT pk_execution_calls PRIMARY KEY (execution_id, revision_iteration, number),
  CONSTRAINT ck_execution_calls_kind_known CHECK (kind IN ('rework', 'action', 'question')),
  CONSTRAINT fk_execution_calls_execution_id FOREIGN KEY(execution_id) REFERENCES checkpoint_executions (execution_id),
  CONSTRAINT fk_execution_calls_inputs_checksum FOREIGN KEY(inputs_checksum) REFERENCES blobs (checksum)
);

CREATE INDEX ix_execution_calls_inputs ON execution_calls (inputs_checksum);

CREATE TABLE validations (
  execution_id TEXT NOT NULL,
  dispatch_number INTEGER NOT NULL,
  position INTEGER NOT NULL,
  revision_iteration INTEGER NOT NULL,
  attempt_number INTEGER NOT NULL,
  by TEXT NOT NULL,
  passed BOOLEAN NOT NULL,
  reason TEXT NOT NULL,
  findings TEXT NOT NULL,
  model TEXT,
  is_simulated BOOLEAN NOT NULL,
  at TIMESTAMP WITH TIME ZONE NOT NULL,
  CONSTRAINT pk_validations PRIMARY KEY (execution_id, dispatch_number, position),
  CONSTRAINT ck_validations_by_known CHECK (by IN ('schema', 'lenient', 'custom')),
  CONSTRAINT fk_validations_execution_id FOREIGN KEY(execution_id) REFERENCES checkpoint_executions (execution_id)
);

CREATE TABLE actions (
  approval_id TEXT NOT NULL,
  execution_id TEXT NOT NULL,
  revision_iteration INTEGER NOT NULL,
  call_number INTEGER,
  operation_type TEXT NOT NULL,
  parameters TEXT NOT NULL,
  reasoning TEXT NOT NULL,
  confidence DOUBLE PRECISION,
  proposed_risk_level TEXT,
  risk_level TEXT NOT NULL,
  risk_reasons TEXT NOT NULL,
  supporting_data TEXT,
  outcome TEXT NOT NULL,
  result TEXT,
  idempotency_key TEXT NOT NULL,
  proposed_at TIMESTAMP WITH TIME ZONE NOT NULL,
  started_at TIMESTAMP WITH TIME ZONE,
  ended_at TIMESTAMP WITH TIME ZONE,
  summary TEXT,
  CONSTRAINT pk_actions PRIMARY KEY (approval_id),
  CONSTRAINT ck_actions_risk_level_known CHECK (risk_level IN ('low', 'medium', 'high', 'critical')),
  CONSTRAINT ck_actions_proposed_risk_level_known CHECK (proposed_risk_level IN ('low', 'medium', 'high', 'critical')),
  CONSTRAINT ck_actions_outcome_known CHECK (outcome IN ('proposed', 'started', 'done', 'failed', 'unknown', 'returned', 'test')),
  CONSTRAINT fk_actions_approval_id FOREIGN KEY(approval_id) REFERENCES approvals (approval_id),
  CONSTRAINT fk_actions_execution_id FOREIGN KEY(execution_id) REFERENCES checkpoint_executions (execution_id)
);

CREATE INDEX ix_actions_of_execution ON actions (execution_id);

CREATE TABLE corrections (
  case_id TEXT NOT NULL,
  approval_id TEXT NOT NULL,
  pipeline_id TEXT NOT NULL,
  operation_type TEXT NOT NULL,
  original TEXT NOT NULL,
  modified TEXT NOT NULL,
  changes TEXT NOT NULL,
  feedback TEXT NOT NULL,
  by TEXT NOT NULL,
  at TIMESTAMP WITH TIME ZONE NOT NULL,
  CONSTRAINT pk_corrections PRIMARY KEY (case_id),
  CONSTRAINT fk_corrections_approval_id FOREIGN KEY(approval_id) REFERENCES approvals (approval_id),
  CONSTRAINT fk_corrections_pipeline_id FOREIGN KEY(pipeline_id) REFERENCES pipelines (pipeline_id)
);

CREATE INDEX ix_corrections_of_approval ON corrections (approval_id);

CREATE INDEX ix_corrections_of_operation ON corrections (operation_type, at, case_id);

CREATE TABLE approval_comments (
  comment_id TEXT NOT NULL,
  approval_id TEXT NOT NULL,
  by TEXT NOT NULL,
  at TIMESTAMP WITH TIME ZONE NOT NULL,
  text TEXT NOT NULL,
  CONSTRAINT pk_approval_comments PRIMARY KEY (comment_id),
  CONSTRAINT fk_approval_comments_approval_id FOREIGN KEY(approval_id) REFERENCES approvals (approval_id)
);

CREATE INDEX ix_approval_comments_of ON approval_comments (approval_id, at, comment_id);

CREATE TABLE artifact_consumption (
  execution_id TEXT NOT NULL,
  dispatch_number INTEGER NOT NULL,
  artifact_record_id TEXT NOT NULL,
  consumed_at TIMESTAMP WITH TIME ZONE NOT NULL,
  CONSTRAINT pk_artifact_consumption PRIMARY KEY (execution_id, dispatch_number, artifact_record_id),
  CONSTRAINT fk_artifact_consumption_execution_id FOREIGN KEY(execution_id) REFERENCES checkpoint_executions (execution_id),
  CONSTRAINT fk_artifact_consumption_artifact_record_id FOREIGN KEY(artifact_record_id) REFERENCES artifacts (artifact_record_id)
);

CREATE INDEX ix_artifact_consumption_artifact ON artifact_consumption (artifact_record_id);

CREATE TABLE audit_reviews (
  approval_id TEXT NOT NULL,
  agrees BOOLEAN NOT NULL,
  comment TEXT NOT NULL,
  by TEXT NOT NULL,
  at TIMESTAMP WITH TIME ZONE NOT NULL,
  CONSTRAINT pk_audit_reviews PRIMARY KEY (approval_id),
  CONSTRAINT fk_audit_reviews_approval_id FOREIGN KEY(approval_id) REFERENCES approvals (approval_id)
);

CREATE INDEX ix_audit_reviews_at ON audit_reviews (at, approval_id);

CREATE TABLE approval_decisions (
  decision_id TEXT NOT NULL,
  approval_id TEXT NOT NULL,
  position INTEGER NOT NULL,
  by TEXT NOT NULL,
  at TIMESTAMP WITH TIME ZONE NOT NULL,
  decision TEXT NOT NULL,
  feedback TEXT NOT NULL,
  digest TEXT NOT NULL,
  answer_checksum TEXT,
  CONSTRAINT pk_approval_decisions PRIMARY KEY (decision_id),
  CONSTRAINT uq_approval_decisions_approval_id UNIQUE (approval_id, position),
  CONSTRAINT fk_approval_decisions_approval_id FOREIGN KEY(approval_id) REFERENCES approvals (approval_id),
  CONSTRAINT fk_approval_decisions_answer_checksum FOREIGN KEY(answer_checksum) REFERENCES blobs (checksum)
);

CREATE INDEX ix_approval_decisions_answer ON approval_decisions (answer_checksum) WHERE answer_checksum IS NOT NULL;

CREATE VIEW human_interactions AS
SELECT
  d.decision_id AS interaction_id,
  a.execution_id AS execution_id,
  d.at AS timestamp,
  CASE
    WHEN d.decision = 'revise' THEN 'revision_request'
    WHEN a.kind = 'start' THEN 'approval_to_start'
    WHEN a.kind = 'completion' THEN 'approval_to_complete'
    WHEN a.kind = 'validation' THEN 'validation_feedback'
    WHEN a.kind = 'input' THEN coalesce(a.waiting_on, 'input')
    ELSE a.kind
  END AS type,
  d.feedback AS user_input,
  d.decision AS system_response,
  d.by AS actor,
  d.answer_checksum AS answer_checksum,
  a.approval_id AS approval_id
FROM approval_decisions d
JOIN approvals a ON a.approval_id = d.approval_id;

CREATE VIEW active_pipelines AS
SELECT
  r.pipeline_id AS pipeline_id,
  p.pipeline_name AS pipeline_name,
  r.run_id AS run_id,
  r.run_version AS run_version,
  r.original_prompt AS original_prompt,
  r.status AS status,
  coalesce(CAST(g.document AS json) #>> ARRAY['checkpoints', CAST(r.current_checkpoint_position AS text), 'stage'], CAST(g.document AS json) #>> ARRAY['checkpoints', CAST(r.current_checkpoint_position AS text), 'key']) AS current_stage,
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
GROUP BY r.run_id, p.pipeline_id, g.pipeline_id, g.revision;

CREATE VIEW job_summary AS
SELECT
  e.execution_id AS job_id,
  r.pipeline_id AS pipeline_id,
  e.run_id AS run_id,
  r.run_version AS run_version,
  coalesce(CAST(g.document AS json) #>> ARRAY['checkpoints', CAST(e.checkpoint_position AS text), 'stage'], e.key) AS stage,
  e.checkpoint_position AS checkpoint_position,
  e.key AS checkpoint_key,
  e.checkpoint_name AS checkpoint_name,
  coalesce(nullif(CAST(e.regression_context AS json) ->> 'prompt', ''), r.original_prompt) AS prompt,
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
JOIN definition_revisions g ON g.pipeline_id = r.pipeline_id AND g.revision = r.definition_revision;

CREATE VIEW artifact_flow AS
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
) k ON k.artifact_record_id = a.artifact_record_id;

CREATE VIEW regression_chains AS
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
  CAST(e.regression_context AS json) ->> 'prompt' AS prompt,
  CAST(e.regression_context AS json) ->> 'reason' AS reason,
  CAST(e.regression_context AS json) ->> 'requested_by' AS requested_by,
  e.created_at AS created_at
FROM chain
JOIN checkpoint_executions e ON e.execution_id = chain.job_id
JOIN pipeline_runs r ON r.run_id = e.run_id;
