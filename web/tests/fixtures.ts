import type {
  Approval,
  Execution,
  LogLine,
  Message,
  MessageDelta,
  OpenExecution,
  Run,
  RunCheckpoint,
  Usage,
} from '~/api/types'

export const AT = '2026-03-02T09:30:00.000000Z'

export function runCheckpoint(facts: Partial<RunCheckpoint> = {}): RunCheckpoint {
  return {
    position: 0,
    checkpoint_id: `checkpoint-${facts.position ?? 0}`,
    key: 'goals',
    name: 'Goals',
    description: '',
    stage: 'goals',
    mode: 'human_only',
    needs: [],
    requires_approval_to_start: false,
    requires_approval_to_complete: false,
    execution_id: `execution-${facts.position ?? 0}`,
    status: 'in_progress',
    waiting_on: null,
    attempt_number: 1,
    revision_iteration: 0,
    started_at: AT,
    completed_at: null,
    active_seconds: 0,
    artifact_count: 0,
    error_message: null,
    retry_due_at: null,
    progress: null,
    is_rework: false,
    is_stale: false,
    ...facts,
  }
}

export function openExecution(facts: Partial<OpenExecution> = {}): OpenExecution {
  return {
    execution_id: 'execution-0',
    checkpoint_id: 'checkpoint-0',
    checkpoint_name: 'Goals',
    checkpoint_position: 0,
    status: 'in_progress',
    waiting_on: null,
    retry_due_at: null,
    created_at: AT,
    progress: null,
    ...facts,
  }
}

export function logLine(log_id: number, facts: Partial<LogLine> = {}): LogLine {
  return {
    log_id,
    execution_id: 'execution-0',
    timestamp: AT,
    level: 'info',
    message: `line ${log_id}`,
    details: null,
    ...facts,
  }
}

const NO_LIMITS = { max_cost_usd: null, max_tokens: null, max_calls: null }

export function usage(facts: Partial<Usage> = {}): Usage {
  return {
    calls: 0,
    input_tokens: 0,
    output_tokens: 0,
    cache_read_tokens: 0,
    cache_write_tokens: 0,
    cost_usd: 0,
    unpriced_calls: 0,
    simulated_calls: 0,
    simulated_tokens: 0,
    seconds: 0,
    ...facts,
  }
}

export function message(message_id: number, facts: Partial<Message> = {}): Message {
  return {
    message_id,
    execution_id: 'execution-0',
    timestamp: AT,
    agent_name: 'Writer',
    role: 'assistant',
    content: `words ${message_id}`,
    attempt_key: 'a1.r0.v0',
    is_current: true,
    turn: 'work',
    number: message_id,
    purpose: 'work',
    thinking: '',
    tool_calls: [],
    tool_results: [],
    model: 'simulated:default',
    is_simulated: true,
    is_last: false,
    usage: null,
    ...facts,
  }
}

export function delta(text: string, offset: number, facts: Partial<MessageDelta> = {}): MessageDelta {
  return {
    execution_id: 'execution-0',
    attempt_key: 'a1.r0.v0',
    turn: 'work',
    number: 2,
    agent_name: 'Writer',
    kind: 'text',
    offset,
    text,
    is_simulated: true,
    ...facts,
  }
}

export function approval(facts: Partial<Approval> = {}): Approval {
  return {
    approval_id: 'approval',
    title: 'Approve Goals',
    kind: 'completion',
    status: 'pending',
    digest: 'a'.repeat(64),
    run_id: 'run',
    run_version: 1,
    pipeline_id: 'pipeline',
    pipeline_name: 'Goals to design',
    execution_id: 'execution-0',
    checkpoint_id: 'checkpoint-0',
    checkpoint_name: 'Goals',
    checkpoint_position: 0,
    requested_at: AT,
    expires_at: null,
    on_timeout: null,
    escalate_to: [],
    closed_at: null,
    required_approvals: 1,
    received_approvals: 0,
    rule: null,
    priority: 100,
    assigned_to: [],
    can_decide: true,
    warning: null,
    escalated: false,
    operation_type: null,
    risk_level: null,
    confidence: null,
    artifact_count: 0,
    reason: '',
    decisions: [],
    available_decisions: ['approve', 'revise', 'reject'],
    ...facts,
  }
}

export function runWith(checkpoints: RunCheckpoint[], facts: Partial<Run> = {}): Run {
  return {
    run_id: 'run',
    pipeline_id: 'pipeline',
    pipeline_name: 'Goals to design',
    pipeline_definition_version: 1,
    run_version: 1,
    test: false,
    status: 'in_progress',
    pause_requested: false,
    created_at: AT,
    created_by: 'admin',
    started_at: AT,
    completed_at: null,
    metadata: {
      total_checkpoints: checkpoints.length,
      completed_checkpoints: 0,
      failed_checkpoints: 0,
      paused_checkpoint_position: null,
    },
    current_checkpoint_id: null,
    current_checkpoint_position: null,
    pending_approval_count: 0,
    pending_start_count: 0,
    open_executions: [],
    archived_by: null,
    over_budget: null,
    usage: usage(),
    paused_at: null,
    last_resumed_at: null,
    previous_run_id: null,
    extends_from_run_version: null,
    original_prompt: null,
    pass_number: 1,
    restart_count: 0,
    checkpoint_execution_history: [],
    rollback_history: [],
    checkpoints,
    progress: {
      completed: 0,
      total: checkpoints.length,
      elapsed_seconds: 0,
      estimated_seconds_left: null,
      current: [],
    },
    available_commands: [],
    pending_approvals: [],
    budget: {
      run_limits: NO_LIMITS,
      definition_limits: NO_LIMITS,
      monthly_limits: NO_LIMITS,
      status: [],
    },
    warnings: [],
    ...facts,
  }
}

export const executionOf = (item: RunCheckpoint, pending: Approval | null) =>
  ({ execution_id: item.execution_id, approval: pending }) as Execution
