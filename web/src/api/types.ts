/** The API types that the app uses, with their names in the app. */
import type { components } from './schema'

type Schemas = components['schemas']

export type ActionDetail = NonNullable<ApprovalDetail['action']>
export type Approval = Schemas['Approval']
export type ApprovalDetail = Schemas['ApprovalDetail']
export type ApprovalKind = Schemas['ApprovalKind']
export type Artifact = Schemas['Artifact']
export type Audit = Schemas['Audit']
export type AuditEvent = Schemas['Event']
export type Autonomy = Schemas['Autonomy']
export type Backtest = Schemas['Backtest']
export type BatchDecisionResults = Schemas['BatchDecisionResults']
export type BudgetLimits = Schemas['BudgetLimits']
export type BudgetStatus = Schemas['BudgetStatus']
export type Channel = Schemas['Channel']
export type Tool = Schemas['Tool']
export type ToolEffect = Tool['effect']
export type PutToolRequest = Schemas['PutToolRequest']
export type ChannelKind = Schemas['ChannelKind']
export type Checkpoint = Schemas['Checkpoint']
export type ContextBlock = Schemas['ContextBlock']
export type CreateChannelRequest = Schemas['CreateChannelRequest']
export type CreateInvitationRequest = Schemas['CreateInvitationRequest']
export type CreateOwnTokenRequest = Schemas['CreateOwnTokenRequest']
export type CreateReworkRequest = Schemas['CreateReworkRequest']
export type CreateRollbackRequest = Schemas['CreateRollbackRequest']
export type CreateTokenRequest = Schemas['CreateTokenRequest']
export type DefinitionFinding = Schemas['DefinitionFinding']
export type Delegation = Schemas['Delegation']
export type Delivery = Schemas['Delivery']
export type DeliveryDetail = Schemas['DeliveryDetail']
export type DeliveryStatus = Schemas['DeliveryStatus']
export type EmergencyStop = Schemas['EmergencyStop']
export type Execution = Schemas['Execution']
export type ExecutionStatus = Schemas['ExecutionStatus']
export type Form = Schemas['Form']
export type FormField = Schemas['FormField']
export type Group = Schemas['Group']
export type HealthCheck = Schemas['HealthCheck']
export type HealthReport = Schemas['HealthReport']
export type Invitation = Schemas['Invitation']
export type LibraryAgent = Schemas['LibraryAgent']
export type LibraryAgentRevision = Schemas['LibraryAgentRevision']
export type LogLine = Schemas['LogLine']
export type Message = Schemas['Message']
/** A part of a message that is being streamed. The API schema does not describe stream events. */
export type MessageDelta = {
  execution_id: string
  attempt_key: string
  turn: string
  number: number
  agent_name: string
  kind: 'text' | 'thinking' | 'tool_call'
  offset: number
  text: string
  is_simulated: boolean
}
export type MessagePage = Schemas['MessagePage']
export type ModificationPreview = Schemas['ModificationPreview']
export type NotificationKind = Schemas['NotificationKind']
export type OpenExecution = Schemas['OpenExecution']
export type OpenSession = Schemas['OpenSession']
export type ParameterChange = Schemas['ParameterChange']
export type Pipeline = Schemas['Pipeline']
export type PipelineSummary = Schemas['PipelineSummary']
export type Preferences = Schemas['Preferences']
export type Proportion = Schemas['Proportion']
export type Revision = Schemas['Revision']
export type ReworkItem = Schemas['ReworkItem']
export type ReworkPreview = Schemas['ReworkPreview']
export type RiskLevel = Schemas['RiskLevel']
export type Role = Schemas['Role']
export type Rollback = Schemas['Rollback']
export type RollbackPreview = Omit<Schemas['RollbackPreview'], 'rollback_id'>
export type RuleAutonomy = Schemas['RuleAutonomy']
export type RuleSummary = Schemas['RuleSummary']
export type RuleText = Schemas['RuleText']
export type Run = Schemas['Run']
export type RunCheckpoint = Schemas['RunCheckpoint']
export type RunStatus = Schemas['RunStatus']
export type RunSummary = Schemas['RunSummary']
export type Secret = Schemas['Secret']
export type SecretUses = Schemas['SecretUses']
export type Session = Schemas['Session']
export type SetPreferencesRequest = Schemas['SetPreferencesRequest']
export type SignInOptions = Schemas['SignInOptions']
export type Template = Schemas['Template']
export type Token = Schemas['Token']
export type TokenScope = Schemas['Scope']
export type UpdateChannelRequest = Schemas['UpdateChannelRequest']
export type UpdateUserRequest = Schemas['UpdateUserRequest']
export type Usage = Schemas['Usage']
export type User = Schemas['User']
export type Validation = Execution['validations'][number]
export type WaitingOn = NonNullable<RunCheckpoint['waiting_on']>
