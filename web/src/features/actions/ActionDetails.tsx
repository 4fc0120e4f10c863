import { Button } from '@mantine/core'
import { useState } from 'react'
import { humanize, type Parameters, toLine } from '~/lib/actions'
import { formatValue } from '~/lib/json'
import { Code } from '~/ui/Code'
import { Section } from '~/ui/Page'
import styles from './ActionDetails.module.css'

const isRecord = (value: unknown): value is Parameters =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const isScalar = (value: unknown) => !isRecord(value) && !Array.isArray(value)

function ParameterList({ parameters }: { parameters: Parameters }) {
  const plain = Object.entries(parameters).filter(([, value]) => isScalar(value))
  const nested = Object.entries(parameters).filter(([, value]) => !isScalar(value))
  return (
    <>
      {plain.length > 0 && (
        <dl className={styles.parameters}>
          {plain.map(([name, value]) => (
            <ParameterRow key={name} name={humanize(name)} value={value} />
          ))}
        </dl>
      )}
      {nested.map(([name, value]) => (
        <div key={name} className={styles.nested}>
          <span className={styles.name}>{humanize(name)}</span>
          <Code text={formatValue(value)} label={humanize(name)} wrap />
        </div>
      ))}
      {plain.length + nested.length === 0 && <p className={styles.nested}>No parameters.</p>}
    </>
  )
}

function ParameterRow({ name, value }: { name: string; value: unknown }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{toLine(value)}</dd>
    </div>
  )
}

/** The reasoning of the proposer. */
export function Reasoning({ text }: { text: string }) {
  if (text.trim() === '') return null
  return (
    <Section title="The agent says">
      <blockquote className={styles.reasoning}>{text}</blockquote>
    </Section>
  )
}

/** The data that supports the proposal, one card per part. */
export function SupportingData({ data }: { data: unknown }) {
  const [asJson, setAsJson] = useState(false)
  if (data === null || data === undefined) return null
  const parts = isRecord(data) ? Object.entries(data) : []
  const panels = parts.filter((part): part is [string, Parameters] => isRecord(part[1]))
  const scalars = Object.fromEntries(parts.filter(([, value]) => !isRecord(value)))
  return (
    <Section
      title="Supporting data"
      aside={
        <Button variant="subtle" aria-pressed={asJson} onClick={() => setAsJson(!asJson)}>
          {asJson ? 'Show as cards' : 'Show as JSON'}
        </Button>
      }
    >
      {asJson || parts.length === 0 ? (
        <Code text={formatValue(data)} label="Supporting data as JSON" wrap />
      ) : (
        <div className={styles.cards}>
          {Object.keys(scalars).length > 0 && (
            <div className={styles.panel}>
              <ParameterList parameters={scalars} />
            </div>
          )}
          {panels.map(([name, values]) => (
            <section key={name} className={styles.panel} aria-label={name}>
              <h3 className={styles.cardTitle}>{name}</h3>
              <ParameterList parameters={values} />
            </section>
          ))}
        </div>
      )}
    </Section>
  )
}
