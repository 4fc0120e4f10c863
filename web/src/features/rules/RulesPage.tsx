import { Tabs } from '@mantine/core'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { pipelines } from '~/api/queries'
import { audits, rules, type Scope } from '~/api/rules'
import { useRoles } from '~/api/session'
import type { RuleText } from '~/api/types'
import { rulesSummary } from '~/lib/rules'
import { LoadingRows } from '~/ui/Loading'
import { Page } from '~/ui/Page'
import { LoadError } from '~/ui/ProblemNotice'
import { SelectField } from '~/ui/SelectField'
import { ActiveRules } from './ActiveRules'
import { Audits } from './Audits'
import { EmergencyStopButton } from './EmergencyStop'
import { EmergencyStopHistory } from './EmergencyStopHistory'
import { RuleAutonomyTable } from './RuleAutonomy'
import styles from './Rules.module.css'
import { RulesEditor } from './RulesEditor'
import { RuleVersions } from './RuleVersions'

const route = getRouteApi('/rules')

/** The approval rules of all pipelines or of one. */
export function RulesPage() {
  const { pipeline } = route.useSearch()
  const scope = pipeline ?? null
  const isAdmin = useRoles().includes('admin')
  const { data, error, refetch } = useQuery(rules(scope))
  return (
    <Page title="Rules" actions={isAdmin && <EmergencyStopButton />}>
      <div className={styles.head}>
        <h1>{data === undefined ? 'Rules' : rulesSummary(data.rules)}</h1>
        <ScopeChoice scope={scope} />
      </div>
      {error !== null ? (
        <LoadError title="Couldn't load rules." error={error} retry={() => void refetch()} />
      ) : data === undefined ? (
        <LoadingRows rows={4} label="Loading rules" />
      ) : (
        <RulesTabs key={scope} scope={scope} stored={data} isAdmin={isAdmin} />
      )}
    </Page>
  )
}

function ScopeChoice({ scope }: { scope: Scope }) {
  const navigate = route.useNavigate()
  const { data } = useQuery(pipelines())
  return (
    <SelectField
      label="Scope"
      value={scope ?? ''}
      options={[
        { value: '', label: 'All pipelines' },
        ...(data?.items ?? []).map((item) => ({ value: item.pipeline_id, label: item.pipeline_name })),
      ]}
      onChange={(value) => void navigate({ search: value === '' ? {} : { pipeline: value } })}
    />
  )
}

function RulesTabs({ scope, stored, isAdmin }: { scope: Scope; stored: RuleText; isAdmin: boolean }) {
  const { tab, edit } = route.useSearch()
  const navigate = route.useNavigate()
  const openAudits = useInfiniteQuery(audits(true, scope)).data?.pages[0]?.items.length ?? 0
  const onEdit = (on: boolean) =>
    void navigate({
      search: (before) => ({ ...before, tab: on ? undefined : before.tab, edit: on || undefined }),
    })
  return (
    <Tabs
      value={tab ?? 'rules'}
      onChange={(value) =>
        void navigate({
          search: (before) => ({
            ...before,
            edit: undefined,
            tab: value === 'rules' ? undefined : (value as typeof tab),
          }),
          replace: true,
        })
      }
      keepMounted={false}
    >
      <Tabs.List className={styles.tabs}>
        <Tabs.Tab value="rules">Active rules</Tabs.Tab>
        <Tabs.Tab value="autonomy">Autonomy</Tabs.Tab>
        <Tabs.Tab value="audits">
          Audits {openAudits > 0 && <span className={styles.count}>{openAudits}</span>}
        </Tabs.Tab>
        <Tabs.Tab value="versions">Versions</Tabs.Tab>
        <Tabs.Tab value="stops">Emergency stops</Tabs.Tab>
      </Tabs.List>
      <Tabs.Panel value="rules">
        {edit === true && isAdmin ? (
          <RulesEditor scope={scope} stored={stored} onEdit={onEdit} />
        ) : (
          <ActiveRules scope={scope} stored={stored} canEdit={isAdmin} onEdit={onEdit} />
        )}
      </Tabs.Panel>
      <Tabs.Panel value="autonomy">
        <RuleAutonomyTable scope={scope} />
      </Tabs.Panel>
      <Tabs.Panel value="audits">
        <Audits scope={scope} />
      </Tabs.Panel>
      <Tabs.Panel value="versions">
        <RuleVersions scope={scope} stored={stored} canRevert={isAdmin} />
      </Tabs.Panel>
      <Tabs.Panel value="stops">
        <EmergencyStopHistory />
      </Tabs.Panel>
    </Tabs>
  )
}
