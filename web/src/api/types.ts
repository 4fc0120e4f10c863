export type RunStatus = 'not_started' | 'in_progress' | 'paused' | 'completed' | 'failed' | 'cancelled'
export type ExecutionStatus =
  | 'pending'
  | 'waiting_approval_to_start'
  | 'in_progress'
  | 'waiting_approval_to_complete'
  | 'completed'
  | 'failed'
  | 'cancelled'
export type WaitingOn =
  | 'human_form'
  | 'script_input'
  | 'action_approval'
  | 'validation_feedback'
  | 'question'
  | 'escalation'
  | 'rework'
  | 'retry_delay'
  | 'external_blocker'
export type ApprovalKind = 'start' | 'completion' | 'action' | 'validation' | 'escalation' | 'input'
export type Mode = 'human_only' | 'function' | 'script' | 'agentic'
export type Role = 'viewer' | 'editor' | 'approver' | 'admin'

export type Page<T> = { items: T[]; next_cursor: string | null }
export type Session = { actor: string; roles: Role[]; version: string; data_dir?: string | null }
export type Finding = {
  path: string
  message: string
  severity?: string
  line?: number | null
  column?: number | null
}

export type RunSummary = {
  run_id: string
  pipeline_id: string
  pipeline_name: string
  pipeline_definition_version: number
  run_version: number | null
  test: boolean
  status: RunStatus
  pause_requested: boolean
  created_at: string
  created_by: string
  started_at: string | null
  completed_at: string | null
  metadata: {
    total_checkpoints: number
    completed_checkpoints: number
    failed_checkpoints: number
    paused_checkpoint_position: number | null
  }
  current_checkpoint_id: string | null
  current_checkpoint_position: number | null
  waiting: number
  archived_by: string | null
}

export type TrailItem = {
  position: number
  checkpoint_id: string
  key: string
  name: string
  description: string
  stage: string | null
  mode: Mode
  needs: string[]
  asks_to_start: boolean
  asks_to_complete: boolean
  execution_id: string | null
  status: ExecutionStatus | 'upcoming'
  waiting_on: WaitingOn | null
  attempt_number: number
  revision_iteration: number
  started_at: string | null
  completed_at: string | null
  worked_seconds: number | null
  artifact_count: number
  error: string | null
  retry_due_at: string | null
  is_rework: boolean
}

export type Decision = {
  by: string
  at: string
  decision: string
  feedback: string | null
  digest: string | null
}

export type Approval = {
  approval_id: string
  kind: ApprovalKind
  status: string
  digest: string
  run_id: string
  run_version: number | null
  pipeline_id: string
  pipeline_name: string
  execution_id: string
  checkpoint_id: string
  checkpoint_name: string
  checkpoint_position: number
  asked_at: string
  expires_at: string | null
  closed_at: string | null
  needed: number
  given: number
  reason: string | null
  decisions: Decision[]
  possible: string[]
}

export type Run = RunSummary & {
  paused_at: string | null
  last_resumed_at: string | null
  previous_run_id: string | null
  extends_from_run_version: number | null
  original_prompt: string | null
  pass_number: number
  restart_count: number
  checkpoint_execution_history: string[]
  rollback_history: string[]
  trail: TrailItem[]
  progress: {
    completed: number
    total: number
    elapsed_seconds: number | null
    estimated_seconds_left: number | null
    current: string[]
  }
  possible: string[]
  waiting_approvals: Approval[]
  warnings: string[]
}

export type Artifact = {
  artifact_record_id: string
  artifact_id: string | null
  execution_id: string
  run_id: string
  run_version: number | null
  checkpoint_id: string
  checkpoint_name: string
  checkpoint_position: number
  artifact_name: string
  format: string
  media_type: string
  artifact_type: string
  file_path: string | null
  size_bytes: number
  checksum: string
  created_at: string
  promoted_to_permanent_at: string | null
  stale: boolean
}

export type FieldType = 'text' | 'number' | 'boolean' | 'file' | 'multiline_text'
export type FormField = {
  field_id: string
  name: string
  type: FieldType
  label: string
  required: boolean
  default?: unknown
  validation?: unknown
}
export type Form = {
  instructions: string
  fields: FormField[]
  values: Record<string, unknown> | null
  feedback: string | null
}

export type Execution = {
  execution_id: string
  run_id: string
  pipeline_id: string
  checkpoint_id: string
  checkpoint_key: string
  checkpoint_name: string
  checkpoint_description: string
  checkpoint_position: number
  mode: Mode
  status: ExecutionStatus
  waiting_on: WaitingOn | null
  created_at: string
  started_at: string | null
  completed_at: string | null
  failed_at: string | null
  attempt_number: number
  max_attempts: number
  revision_iteration: number
  max_revision_iterations: number
  dispatch_number: number
  pass_number: number
  temp_workspace_path: string | null
  permanent_output_path: string | null
  parent_execution_id: string | null
  regression_context: unknown
  archived_by: string | null
  retry_due_at: string | null
  worked_seconds: number | null
  digest: string | null
  error_details: {
    error_count: number
    last_error: {
      timestamp: string
      error_type: string
      error_message: string
      stack_trace: string | null
    } | null
  }
  artifacts_generated: Artifact[]
  human_interactions: {
    interaction_id: string
    timestamp: string
    type: string
    user_input: unknown
    system_response: unknown
    actor: string | null
  }[]
  approval: Approval | null
  form: Form | null
  progress: { fraction: number | null; text: string | null } | null
  possible: string[]
  warnings: string[]
}

export type LogLine = {
  log_id: string | number
  timestamp: string
  level: string
  message: string
  details?: unknown
}

export type ContextBlock = {
  kind: 'previous_version' | 'checkpoint_output' | 'previous_pass' | 'revision_feedback'
  heading: string
  checkpoint_name: string | null
  run_version: number | null
  artifact_name: string | null
  file_path: string | null
  content: string | null
  size_bytes: number
}
export type Context = {
  stored: boolean
  content_format: string
  input: unknown
  blocks: ContextBlock[]
  system_prompt: string | null
  task_prompt: string | null
  text: string
  size_characters: number
}

export type RollbackType = 'checkpoint_level' | 'run_level'
export type RollbackRequest = {
  rollback_type: RollbackType
  source_run_id: string
  target_run_id?: string
  target_checkpoint_position?: number
  user_reason?: string
  rollback_id?: string
}
export type Rollback = {
  rollback_id: string | null
  rollback_type: RollbackType
  source_run_id: string
  source_run_version: number | null
  target_run_id: string | null
  target_run_version: number | null
  target_checkpoint_id: string | null
  target_checkpoint_position: number | null
  rolled_back_items: {
    deleted_runs: { run_id: string; run_version: number | null }[]
    deleted_checkpoint_executions: {
      execution_id: string
      checkpoint_id: string
      checkpoint_name: string
      checkpoint_position: number
      status: string
    }[]
    archived_artifacts: {
      artifact_record_id: string
      artifact_name: string
      original_path: string | null
      archived_path: string | null
      size_bytes: number
    }[]
  }
  archive_location: string | null
  triggered_by: string
  user_reason: string | null
  created_at: string | null
  created_by: string | null
  undone_at: string | null
  can_undo: boolean
  warnings: string[]
}
export type RollbackPreview = Rollback & {
  kept: { checkpoints: number; artifacts: number }
  stopped: { execution_id: string; checkpoint_name: string }[]
  withdrawn_approvals: { approval_id: string; kind: string; checkpoint_name: string }[]
  size_bytes: number
  then: {
    checkpoint_name: string | null
    begins: 'at once' | 'asks first' | 'waits for a start' | 'completes'
  }
}

export type AuditEvent = {
  event_id: string
  event_type: string
  pipeline_id: string | null
  run_id: string | null
  execution_id: string | null
  checkpoint_id: string | null
  approval_id: string | null
  rollback_id: string | null
  timestamp: string
  actor: string | null
  description: string
  metadata: unknown
  seq: number
  hash: string
}

export type PipelineSummary = {
  pipeline_id: string
  pipeline_name: string
  pipeline_description: string | null
  pipeline_definition_version: number
  revision: number
  checkpoint_count: number
  created_at: string
  updated_at: string
  deleted_at: string | null
  latest_run: RunSummary | null
  recent_runs: { run_id: string; run_version: number | null; status: RunStatus }[]
  waiting: number
}
export type Checkpoint = {
  checkpoint_id: string
  key: string
  checkpoint_name: string
  checkpoint_description: string
  stage?: string | null
  needs?: string[] | null
  execution: { mode: Mode }
  human_interaction: {
    requires_approval_to_start: boolean
    requires_approval_to_complete: boolean
    max_revision_iterations: number
  }
  output: { artifacts: { name: string; format: string }[] }
}
export type Pipeline = {
  pipeline_id: string
  pipeline_name: string
  pipeline_description: string | null
  pipeline_definition_version: number
  created_at: string
  updated_at: string
  checkpoint_order: string[]
  config: { auto_advance: boolean }
  input_schema?: unknown
  original_prompt?: string | null
  checkpoints: Checkpoint[]
  revision: number
  deleted_at: string | null
  latest_run: RunSummary | null
  warnings: Finding[]
}
export type Template = { name: string; title: string; description: string; text: string }
export type Revision = {
  revision: number
  pipeline_definition_version: number
  author: string
  created_at: string
  comment: string | null
}
export type Validation = { valid: boolean; errors: Finding[]; warnings: Finding[] }
