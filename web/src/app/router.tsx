import { createRootRoute, createRoute, createRouter, lazyRouteComponent } from '@tanstack/react-router'
import type { ApprovalFilter } from '~/api/approvals'
import type { EventFilter } from '~/api/queries'
import { NotFoundPage, PageError } from './ErrorPages'
import { Settings } from './Settings'
import { Shell } from './Shell'

const text = (value: unknown) => (typeof value === 'string' && value !== '' ? value : undefined)

const RULE_TABS = ['autonomy', 'audits', 'versions', 'stops'] as const
type RulesSearch = { pipeline?: string; tab?: (typeof RULE_TABS)[number]; edit?: boolean }

const oneOf = <T extends string>(values: readonly T[], value: unknown) =>
  values.find((candidate) => candidate === value)
const KINDS = ['action', 'completion', 'start', 'input', 'validation', 'escalation'] as const
const RISKS = ['critical', 'high', 'medium', 'low'] as const
const SORTS = ['deadline', 'age', 'risk', 'priority'] as const

const root = createRootRoute({ component: Shell, notFoundComponent: NotFoundPage, errorComponent: PageError })

const home = createRoute({
  getParentRoute: () => root,
  path: '/',
  component: lazyRouteComponent(() => import('~/features/home/HomePage'), 'HomePage'),
})
const approvals = createRoute({
  getParentRoute: () => root,
  path: '/approvals',
  validateSearch: (search): ApprovalFilter => ({
    kind: oneOf(KINDS, search.kind),
    risk: oneOf(RISKS, search.risk),
    pipeline: text(search.pipeline),
    everybody: search.everybody === true || undefined,
    sort: oneOf(SORTS, search.sort),
  }),
  component: lazyRouteComponent(() => import('~/features/approvals/ApprovalsPage'), 'ApprovalsPage'),
})
const approval = createRoute({
  getParentRoute: () => root,
  path: '/approvals/$approvalId',
  validateSearch: (search): { do?: string } => ({ do: text(search.do) }),
  component: lazyRouteComponent(() => import('./ApprovalPage'), 'ApprovalPage'),
})
const pipelines = createRoute({
  getParentRoute: () => root,
  path: '/pipelines',
  component: lazyRouteComponent(() => import('~/features/pipelines/PipelinesPage'), 'PipelinesPage'),
})
const newPipeline = createRoute({
  getParentRoute: () => root,
  path: '/pipelines/new',
  validateSearch: (search): { from?: 'yaml' } => (search.from === 'yaml' ? { from: 'yaml' } : {}),
  component: lazyRouteComponent(() => import('./NewPipelinePage'), 'NewPipelinePage'),
})
const pipeline = createRoute({
  getParentRoute: () => root,
  path: '/pipelines/$pipelineId',
  validateSearch: (search): { tab?: 'definition' | 'history'; edit?: boolean } => ({
    tab: search.tab === 'definition' || search.tab === 'history' ? search.tab : undefined,
    edit: search.edit === true || undefined,
  }),
  component: lazyRouteComponent(() => import('./PipelinePage'), 'PipelinePage'),
})
const templates = createRoute({
  getParentRoute: () => root,
  path: '/templates',
  component: lazyRouteComponent(() => import('~/features/templates/TemplatesPage'), 'TemplatesPage'),
})
const agents = createRoute({
  getParentRoute: () => root,
  path: '/agents',
  validateSearch: (search): { new?: boolean } => ({ new: search.new === true || undefined }),
  component: lazyRouteComponent(() => import('~/features/agents/AgentsPage'), 'AgentsPage'),
})
const agent = createRoute({
  getParentRoute: () => root,
  path: '/agents/$name',
  validateSearch: (search): { tab?: 'revisions'; edit?: boolean } => ({
    tab: search.tab === 'revisions' ? 'revisions' : undefined,
    edit: search.edit === true || undefined,
  }),
  component: lazyRouteComponent(() => import('~/features/agents/AgentPage'), 'AgentPage'),
})
const runs = createRoute({
  getParentRoute: () => root,
  path: '/runs',
  validateSearch: (search): { status?: string } => ({ status: text(search.status) }),
  component: lazyRouteComponent(() => import('~/features/runs/RunsPage'), 'RunsPage'),
})
const run = createRoute({
  getParentRoute: () => root,
  path: '/runs/$runId',
  validateSearch: (search): { checkpoint?: string; tab?: string; artifact?: string } => ({
    checkpoint: text(search.checkpoint),
    tab: text(search.tab),
    artifact: text(search.artifact),
  }),
  component: lazyRouteComponent(() => import('./RunPage'), 'RunPage'),
})
const events = createRoute({
  getParentRoute: () => root,
  path: '/events',
  validateSearch: (search): EventFilter => ({
    pipeline_id: text(search.pipeline_id),
    run_id: text(search.run_id),
    execution_id: text(search.execution_id),
    event_type: text(search.event_type),
    since: text(search.since),
    until: text(search.until),
  }),
  component: lazyRouteComponent(() => import('~/features/events/EventsPage'), 'EventsPage'),
})

const rules = createRoute({
  getParentRoute: () => root,
  path: '/rules',
  validateSearch: (search): RulesSearch => ({
    pipeline: text(search.pipeline),
    tab: RULE_TABS.find((tab) => tab === search.tab),
    edit: search.edit === true || undefined,
  }),
  component: lazyRouteComponent(() => import('~/features/rules/RulesPage'), 'RulesPage'),
})
const settings = createRoute({ getParentRoute: () => root, path: '/settings', component: Settings })
const account = createRoute({
  getParentRoute: () => settings,
  path: '/',
  component: lazyRouteComponent(() => import('~/features/identity/AccountPage'), 'AccountPage'),
})
const preferences = createRoute({
  getParentRoute: () => settings,
  path: '/notifications',
  component: lazyRouteComponent(() => import('~/features/notifications/PreferencesPage'), 'PreferencesPage'),
})
const users = createRoute({
  getParentRoute: () => settings,
  path: '/users',
  component: lazyRouteComponent(() => import('~/features/identity/UsersPage'), 'UsersPage'),
})
const groups = createRoute({
  getParentRoute: () => settings,
  path: '/groups',
  component: lazyRouteComponent(() => import('~/features/identity/GroupsPage'), 'GroupsPage'),
})
const tokens = createRoute({
  getParentRoute: () => settings,
  path: '/tokens',
  component: lazyRouteComponent(() => import('~/features/identity/TokensPage'), 'TokensPage'),
})
const secrets = createRoute({
  getParentRoute: () => settings,
  path: '/secrets',
  component: lazyRouteComponent(() => import('~/features/secrets/SecretsPage'), 'SecretsPage'),
})
const actionTypes = createRoute({
  getParentRoute: () => settings,
  path: '/action-types',
  component: lazyRouteComponent(() => import('~/features/action-types/ActionTypesPage'), 'ActionTypesPage'),
})
const tools = createRoute({
  getParentRoute: () => settings,
  path: '/tools',
  component: lazyRouteComponent(() => import('~/features/tools/ToolsPage'), 'ToolsPage'),
})
const channels = createRoute({
  getParentRoute: () => settings,
  path: '/channels',
  component: lazyRouteComponent(() => import('~/features/notifications/ChannelsPage'), 'ChannelsPage'),
})
const deliveries = createRoute({
  getParentRoute: () => settings,
  path: '/deliveries',
  component: lazyRouteComponent(() => import('~/features/notifications/DeliveriesPage'), 'DeliveriesPage'),
})

const health = createRoute({
  getParentRoute: () => root,
  path: '/health',
  component: lazyRouteComponent(() => import('~/features/doctor/HealthPage'), 'HealthPage'),
})

export const router = createRouter({
  routeTree: root.addChildren([
    home,
    approvals,
    approval,
    pipelines,
    newPipeline,
    pipeline,
    templates,
    agents,
    agent,
    runs,
    run,
    events,
    rules,
    settings.addChildren([
      account,
      preferences,
      users,
      groups,
      tokens,
      secrets,
      actionTypes,
      tools,
      channels,
      deliveries,
    ]),
    health,
  ]),
  defaultPreload: 'intent',
  defaultPreloadStaleTime: 0,
  scrollRestoration: true,
})

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}
