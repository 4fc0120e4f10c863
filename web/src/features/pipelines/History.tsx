import { Button, UnstyledButton } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { revertPipeline } from '~/api/changes'
import { difference, history } from '~/api/queries'
import type { Pipeline, Revision } from '~/api/types'
import { clock } from '~/lib/durations'
import { Diff } from '~/ui/Code'
import { Failure, Refusal } from '~/ui/Failure'
import { LoadingRows, LoadingText } from '~/ui/Loading'
import { Panel } from '~/ui/Page'
import { useNow } from '~/ui/Time'
import { tell } from '~/ui/toasts'
import styles from './History.module.css'

/** Every saved revision, what it changed, and the way back to it. */
export function History({ pipeline, mayRevert }: { pipeline: Pipeline; mayRevert: boolean }) {
  const { data, error, refetch } = useQuery(history(pipeline.pipeline_id))
  const [chosen, setChosen] = useState<number | null>(null)
  if (error !== null)
    return <Failure what="The history could not be read." error={error} retry={() => void refetch()} />
  if (data === undefined) return <LoadingRows rows={3} label="Loading the history" />
  const revisions = data.items.toSorted((one, other) => other.revision - one.revision)
  const shown = revisions.find((item) => item.revision === chosen) ?? revisions[0]
  return (
    <div className={styles.history}>
      <Panel>
        <ol>
          {revisions.map((item) => (
            <Row
              key={item.revision}
              item={item}
              chosen={item === shown}
              current={item.revision === pipeline.revision}
              onChoose={setChosen}
            />
          ))}
        </ol>
      </Panel>
      {shown !== undefined && (
        <Change key={shown.revision} pipeline={pipeline} item={shown} mayRevert={mayRevert} />
      )}
    </div>
  )
}

type RowProps = { item: Revision; chosen: boolean; current: boolean; onChoose: (revision: number) => void }

function Row({ item, chosen, current, onChoose }: RowProps) {
  const now = useNow()
  return (
    <li>
      <UnstyledButton className={styles.row} aria-pressed={chosen} onClick={() => onChoose(item.revision)}>
        <span className={styles.revision}>
          Revision {item.revision}
          {current && <span className={styles.current}>current</span>}
        </span>
        <span className={styles.note}>
          {item.author}, {clock(item.created_at, now)}
        </span>
        {item.comment && <span className={styles.note}>{item.comment}</span>}
      </UnstyledButton>
    </li>
  )
}

function Change({ pipeline, item, mayRevert }: { pipeline: Pipeline; item: Revision; mayRevert: boolean }) {
  const client = useQueryClient()
  const [busy, setBusy] = useState(false)
  const [refusal, setRefusal] = useState<unknown>(null)
  const first = item.revision <= 1
  const { data, error } = useQuery({
    ...difference(pipeline.pipeline_id, item.revision - 1, item.revision),
    enabled: !first,
  })
  const revert = async () => {
    setBusy(true)
    setRefusal(null)
    try {
      const saved = await revertPipeline(pipeline.pipeline_id, item.revision)
      tell(`Revision ${saved.revision} is again what revision ${item.revision} was.`)
    } catch (fault) {
      setRefusal(fault)
    }
    await client.invalidateQueries({ queryKey: ['pipeline', pipeline.pipeline_id] })
    setBusy(false)
  }
  return (
    <section className={styles.change} aria-label={`Revision ${item.revision}`}>
      <div className={styles.head}>
        <h2>{first ? 'The first definition' : `What revision ${item.revision} changed`}</h2>
        {mayRevert && item.revision !== pipeline.revision && (
          <Button loading={busy} onClick={() => void revert()}>
            Go back to revision {item.revision}
          </Button>
        )}
      </div>
      {refusal !== null && <Refusal title="Nothing was changed." error={refusal} />}
      {first ? (
        <p className={styles.note}>There is nothing before it to compare with.</p>
      ) : error !== null ? (
        <Failure what="The difference could not be read." error={error} />
      ) : data === undefined ? (
        <LoadingText />
      ) : data.text === '' ? (
        <p className={styles.note}>The text is the same as before.</p>
      ) : (
        <Diff text={data.text} label={`Difference to revision ${item.revision - 1}`} />
      )}
    </section>
  )
}
