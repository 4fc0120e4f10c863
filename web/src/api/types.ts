/** The shapes of the API, by the names that the app uses. */
import type { components } from './schema'

type Schemas = components['schemas']

export type Approval = Schemas['Approval']
export type ApprovalDetail = Schemas['ApprovalDetail']
export type ApprovalKind = Schemas['ApprovalKind']
export type ActionDetail = NonNullable<ApprovalDetail['action']>
export type Artifact = Schemas['Artifact']
export type AuditEvent = Schemas['Event']
export type Audit = Schemas['Audit']
export type Autonomy = Schemas['Autonomy']
export type Backtest = Schemas['Backtest']
export type BatchDecided = Schemas['BatchDecisionResults']
export type Bound = Schemas['BudgetStatus']
export type Change = Schemas['ParameterChange']
export type Channel = Schemas['Channel']
export type ChannelKind = Schemas['ChannelKind']
export type Checkpoint = Schemas['Checkpoint']
export type ContextBlock = Schemas['ContextBlock']
export type CreateChannelRequest = Schemas['CreateChannelRequest']
export type CreateInvitationRequest = Schemas['CreateInvitationRequest']
export type CreateOwnTokenRequest = Schemas['CreateOwnTokenRequest']
export type CreateReworkRequest = Schemas['CreateReworkRequest']
export type CreateRollbackRequest = Schemas['CreateRollbackRequest']
export type CreateTokenRequest = Schemas['CreateTokenRequest']
export type Delegation = Schemas['Delegation']
export type Delivery = Schemas['Delivery']
export type DeliveryDetail = Schemas['DeliveryDetail']
export type DeliveryStatus = Schemas['DeliveryStatus']
export type Diagnosis = Schemas['HealthReport']
export type EmergencyStop = Schemas['EmergencyStop']
export type Execution = Schemas['Execution']
export type ExecutionStatus = Schemas['ExecutionStatus']
export type Finding = Schemas['DefinitionFinding']
export type Form = Schemas['Form']
export type FormField = Schemas['FormField']
export type Group = Schemas['Group']
export type HealthCheck = Schemas['HealthCheck']
export type Invitation = Schemas['Invitation']
export type Limits = Schemas['BudgetLimits']
export type LibraryAgent = Schemas['LibraryAgent']
export type LibraryAgentRevision = Schemas['LibraryAgentRevision']
export type LogLine = Schemas['LogLine']
export type Message = Schemas['Message']
export type MessagePage = Schemas['MessagePage']
export type ModifyPreview = Schemas['ModificationPreview']
export type NoticeKind = Schemas['NotificationKind']
export type OpenExecution = Schemas['OpenExecution']
export type OpenSession = Schemas['OpenSession']
/** A part of a message on its way, as the stream of a run tells it: that has no schema. */
export type Piece = {
  execution_id: string
  scope: string
  turn: string
  number: number
  agent_name: string
  kind: 'text' | 'thinking' | 'tool_call'
  offset: number
  text: string
  is_simulated: boolean
}
export type Pipeline = Schemas['Pipeline']
export type PipelineSummary = Schemas['PipelineSummary']
export type Preferences = Schemas['Preferences']
export type Revision = Schemas['Revision']
export type ReworkItem = Schemas['ReworkItem']
export type ReworkPreview = Schemas['ReworkPreview']
export type Risk = Schemas['RiskLevel']
export type Role = Schemas['Role']
export type Rollback = Schemas['Rollback']
export type RollbackPreview = Omit<Schemas['RollbackPreview'], 'rollback_id'>
export type RuleAutonomy = Schemas['RuleAutonomy']
export type RuleSummary = Schemas['RuleSummary']
export type RuleText = Schemas['RuleText']
export type Run = Schemas['Run']
export type RunStatus = Schemas['RunStatus']
export type RunSummary = Schemas['RunSummary']
export type Session = Schemas['Session']
export type SetPreferencesRequest = Schemas['SetPreferencesRequest']
export type Share = Schemas['Proportion']
export type SignInWays = Schemas['SignInOptions']
export type Template = Schemas['Template']
export type Token = Schemas['Token']
export type TokenScope = Schemas['Scope']
export type TrailItem = Schemas['RunCheckpoint']
export type UpdateChannelRequest = Schemas['UpdateChannelRequest']
export type UpdateUserRequest = Schemas['UpdateUserRequest']
export type Usage = Schemas['Usage']
export type User = Schemas['User']
export type Validation = Execution['validations'][number]
export type WaitingOn = NonNullable<TrailItem['waiting_on']>
