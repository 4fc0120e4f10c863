/** The shapes of the API, by the names that the app uses. */
import type { components } from './schema'

type Schemas = components['schemas']

export type Approval = Schemas['Approval']
export type ApprovalKind = Schemas['Kind']
export type Artifact = Schemas['Artifact']
export type AuditEvent = Schemas['Event']
export type Checkpoint = Schemas['Checkpoint']
export type ContextBlock = Schemas['ContextBlock']
export type Execution = Schemas['Execution']
export type ExecutionStatus = Schemas['ExecutionStatus']
export type Finding = Schemas['Finding']
export type Form = Schemas['Form']
export type FormField = Schemas['FormField']
export type LogLine = Schemas['LogLine']
export type Pipeline = Schemas['Pipeline']
export type PipelineSummary = Schemas['PipelineSummary']
export type Revision = Schemas['Revision']
export type ReworkItem = Schemas['ReworkItem']
export type ReworkPreview = Schemas['ReworkPreview']
export type ReworkRequest = Schemas['Rework']
export type Role = Schemas['Role']
export type Rollback = Schemas['Rollback']
export type RollbackPreview = Omit<Schemas['RollbackPreview'], 'rollback_id'>
export type RollbackRequest = Schemas['RollBack']
export type Run = Schemas['Run']
export type RunStatus = Schemas['RunStatus']
export type RunSummary = Schemas['RunSummary']
export type Session = Schemas['Session']
export type Template = Schemas['Template']
export type TrailItem = Schemas['TrailItem']
export type WaitingOn = NonNullable<TrailItem['waiting_on']>
