/** The API types that the app uses, with their names in the app. */
import type { components } from './schema'

type Schemas = components['schemas']

export type Approval = Schemas['Approval']
export type ApprovalDetail = Schemas['ApprovalDetail']
export type ApprovalKind = Schemas['Kind']
export type ActionDetail = NonNullable<ApprovalDetail['action']>
export type Artifact = Schemas['Artifact']
export type AuditEvent = Schemas['Event']
export type Audit = Schemas['Audit']
export type Autonomy = Schemas['Autonomy']
export type Backtest = Schemas['Backtest']
export type BatchDecisionResults = Schemas['BatchDecided']
export type BudgetStatus = Schemas['Bound']
export type ParameterChange = Schemas['Change']
export type Channel = Schemas['Channel']
export type UpdateChannelRequest = Schemas['ChangeChannel']
export type ChannelKind = Schemas['ChannelKind']
export type Checkpoint = Schemas['Checkpoint']
export type ContextBlock = Schemas['ContextBlock']
export type Delegation = Schemas['Delegation']
export type Delivery = Schemas['Delivery']
export type DeliveryDetail = Schemas['DeliveryDetail']
export type DeliveryStatus = Schemas['DeliveryStatus']
export type HealthReport = Schemas['Diagnosis']
export type EmergencyStop = Schemas['EmergencyStop']
export type Execution = Schemas['Execution']
export type ExecutionStatus = Schemas['ExecutionStatus']
export type DefinitionFinding = Schemas['Finding']
export type Form = Schemas['Form']
export type FormField = Schemas['FormField']
export type Group = Schemas['Group']
export type HealthCheck = Schemas['HealthCheck']
export type Invitation = Schemas['Invitation']
export type InviteRequest = Schemas['Invite']
export type BudgetLimits = Schemas['Limits']
export type LibraryAgent = Schemas['LibraryAgent']
export type LibraryAgentRevision = Schemas['LibraryAgentRevision']
export type LogLine = Schemas['LogLine']
export type Message = Schemas['Message']
export type MessagePage = Schemas['MessagePage']
export type ModificationPreview = Schemas['ModifyPreview']
export type CreateChannelRequest = Schemas['MakeChannel']
export type CreateOwnTokenRequest = Schemas['CreateOwnToken']
export type CreateTokenRequest = Schemas['CreateToken']
export type NotificationKind = Schemas['NoticeKind']
export type OpenExecution = Schemas['OpenExecution']
export type OpenSession = Schemas['OpenSession']
/** A part of a message that is being streamed. The API schema does not describe stream events. */
export type MessageDelta = {
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
export type SetPreferencesRequest = Schemas['SetPreferences']
export type Revision = Schemas['Revision']
export type ReworkItem = Schemas['ReworkItem']
export type ReworkPreview = Schemas['ReworkPreview']
export type ReworkRequest = Schemas['Rework']
export type RiskLevel = Schemas['Risk']
export type Role = Schemas['Role']
export type Rollback = Schemas['Rollback']
export type RollbackPreview = Omit<Schemas['RollbackPreview'], 'rollback_id'>
export type RollbackRequest = Schemas['RollBack']
export type RuleAutonomy = Schemas['RuleAutonomy']
export type RuleSummary = Schemas['RuleSummary']
export type RuleText = Schemas['RuleText']
export type Run = Schemas['Run']
export type RunStatus = Schemas['RunStatus']
export type RunSummary = Schemas['RunSummary']
export type Session = Schemas['Session']
export type Proportion = Schemas['Share']
export type SignInOptions = Schemas['SignInWays']
export type Template = Schemas['Template']
export type Token = Schemas['Token']
export type TokenScope = Schemas['Scope']
export type RunCheckpoint = Schemas['TrailItem']
export type Usage = Schemas['Usage']
export type User = Schemas['User']
export type UpdateUserRequest = Schemas['UpdateUser']
export type Validation = Execution['validations'][number]
export type WaitingOn = NonNullable<RunCheckpoint['waiting_on']>
