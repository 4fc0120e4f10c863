import { Button } from '@mantine/core'
import { IconCircleCheckFilled, IconPlayerPlay } from '@tabler/icons-react'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { createFromTemplate, startRun } from '~/api/commands'
import { templates } from '~/api/queries'
import { useRoles, useSession } from '~/api/session'
import type { Template } from '~/api/types'
import { sampleInput } from '~/lib/sampleInput'
import { canEdit } from '~/lib/states'
import { LoadingText } from '~/ui/Loading'
import { LoadError, ProblemNotice } from '~/ui/ProblemNotice'
import { CairnDrawing } from './CairnDrawing'
import styles from './FirstRun.module.css'

/** Templates that show the main features: code, forms, actions and agents. */
const FEATURED_TEMPLATES = [
  'text-report',
  'product-discovery',
  'refund-email',
  'ticket-triage',
  'business-analysis',
  'build-or-buy',
]

/** The first steps: Cairn is running, start a sample, approve it. */
export function FirstRun() {
  const { actor, data_dir: dataDir } = useSession()
  return (
    <div className={styles.layout}>
      <CairnDrawing />
      <div className={styles.steps}>
        <h1>Approve your first run in two minutes</h1>
        <p className={styles.lead}>
          A pipeline takes work through checkpoints and asks for your approval along the way. Until you
          configure a model provider, agents use a built-in simulated model.
        </p>
        <ol>
          <li>
            <span className={styles.done}>
              <IconCircleCheckFilled size={22} color="var(--green)" aria-hidden="true" />
            </span>
            <div>
              <h2>Cairn is running</h2>
              <p>
                Signed in as {actor}
                {dataDir && (
                  <>
                    , data in <code>{dataDir}</code>
                  </>
                )}
              </p>
            </div>
          </li>
          <li>
            <span className={styles.number} data-now>
              2
            </span>
            <div>
              <h2>Start a sample run</h2>
              <p>Each sample pauses for your approval.</p>
              <SampleList />
            </div>
          </li>
          <li>
            <span className={styles.number}>3</span>
            <div>
              <h2>Review and approve</h2>
              <p>When a run needs you, it appears here and under Approvals.</p>
            </div>
          </li>
        </ol>
        <p className={styles.after}>
          Then adapt the sample to your own work, or explore: <Link to="/templates">All templates</Link>,{' '}
          <Link to="/pipelines/new" search={{ from: 'yaml' }}>
            Write YAML
          </Link>
        </p>
      </div>
    </div>
  )
}

function SampleList() {
  const client = useQueryClient()
  const navigate = useNavigate()
  const allowed = canEdit(useRoles())
  const { data, error, refetch } = useQuery(templates())
  const start = useMutation({
    mutationFn: async ({ name, sample_input }: Template) => {
      const pipeline = await createFromTemplate(name)
      return startRun({
        pipeline_id: pipeline.pipeline_id,
        input: sample_input ?? sampleInput(pipeline.input_schema),
      })
    },
    onSuccess: async (run) => {
      void client.invalidateQueries()
      await navigate({ to: '/runs/$runId', params: { runId: run.run_id } })
    },
  })
  const busy = start.isPending ? start.variables.name : null
  if (error !== null)
    return <LoadError title="Couldn't load samples." error={error} retry={() => void refetch()} />
  if (data === undefined) return <LoadingText />
  const featured = FEATURED_TEMPLATES.flatMap((name) =>
    data.items.filter((template) => template.name === name),
  )
  const shown = featured.length > 0 ? featured : data.items
  return (
    <>
      {start.error !== null && <ProblemNotice title="Couldn't start the sample." error={start.error} />}
      <ul className={styles.samples}>
        {shown.map((template, index) => (
          <li key={template.name} data-first={index === 0 || undefined}>
            <h3>{template.title}</h3>
            <p>{template.description}</p>
            {allowed && (
              <Button
                fullWidth
                variant={index === 0 ? 'filled' : 'default'}
                leftSection={<IconPlayerPlay size={16} />}
                loading={busy === template.name}
                disabled={busy !== null && busy !== template.name}
                onClick={() => start.mutate(template)}
                aria-label={`Start ${template.title}`}
              >
                Start
              </Button>
            )}
          </li>
        ))}
      </ul>
    </>
  )
}
