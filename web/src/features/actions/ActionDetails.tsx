import { Button } from '@mantine/core'
import { IconPaperclip } from '@tabler/icons-react'
import { useState } from 'react'
import type { ActionDetail } from '~/api/types'
import { fillIn, line, type Parameters, spoken } from '~/lib/actions'
import { prettyValue } from '~/lib/json'
import { Code } from '~/ui/Code'
import { Section } from '~/ui/Page'
import styles from './ActionDetails.module.css'

const isParts = (value: unknown): value is Parameters =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const isPlain = (value: unknown) => !isParts(value) && !Array.isArray(value)

/** What would be done, as whoever is at the other end sees it. */
export function Proposal({ action, parameters }: { action: ActionDetail; parameters: Parameters }) {
  return (
    <Section
      title="Proposed action"
      aside={
        <span className={styles.by}>
          <code className={styles.tag}>{action.operation_type}</code>
          <span className={styles.carried}>
            {action.is_carried_out ? 'carried out by Cairn on approval' : 'goes back to whoever proposes it'}
          </span>
        </span>
      }
    >
      <div className={styles.panel}>
        {action.operation_type === 'send_email' ? (
          <Letter parameters={parameters} />
        ) : (
          <Facts parameters={parameters} />
        )}
      </div>
    </Section>
  )
}

/** An email as it is read: names of other parameters stand as their values. */
function Letter({ parameters }: { parameters: Parameters }) {
  const { to, cc, subject, body, attachments, ...rest } = parameters
  const files = Array.isArray(attachments) ? attachments.map(line) : []
  return (
    <>
      <dl className={styles.facts}>
        <Fact name="To" value={to} />
        {cc !== undefined && <Fact name="Copy" value={cc} />}
        <Fact name="Subject" value={fillIn(line(subject), parameters)} />
        {Object.entries(rest).map(([name, value]) => (
          <Fact key={name} name={spoken(name)} value={value} />
        ))}
      </dl>
      {line(body).trim() !== '' && (
        <p className={styles.letter}>{fillIn(line(body), parameters).trimEnd()}</p>
      )}
      {files.length > 0 && (
        <ul className={styles.files} aria-label="Attachments">
          {files.map((name) => (
            <li key={name}>
              <IconPaperclip size={15} aria-hidden="true" />
              {name}
            </li>
          ))}
        </ul>
      )}
    </>
  )
}

function Facts({ parameters }: { parameters: Parameters }) {
  const plain = Object.entries(parameters).filter(([, value]) => isPlain(value))
  const nested = Object.entries(parameters).filter(([, value]) => !isPlain(value))
  return (
    <>
      {plain.length > 0 && (
        <dl className={styles.facts}>
          {plain.map(([name, value]) => (
            <Fact key={name} name={spoken(name)} value={value} />
          ))}
        </dl>
      )}
      {nested.map(([name, value]) => (
        <div key={name} className={styles.nested}>
          <span className={styles.name}>{spoken(name)}</span>
          <Code text={prettyValue(value)} label={spoken(name)} wrap />
        </div>
      ))}
      {plain.length + nested.length === 0 && <p className={styles.nested}>It has no parameters.</p>}
    </>
  )
}

function Fact({ name, value }: { name: string; value: unknown }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{line(value)}</dd>
    </div>
  )
}

/** Why whoever proposes it does so, in their words. */
export function Reasoning({ text }: { text: string }) {
  if (text.trim() === '') return null
  return (
    <Section title="Why it is proposed">
      <blockquote className={styles.reasoning}>{text}</blockquote>
    </Section>
  )
}

/** What the proposal leans on: each part in a panel of its own. */
export function Supporting({ data }: { data: unknown }) {
  const [asJson, setAsJson] = useState(false)
  if (data === null || data === undefined) return null
  const parts = isParts(data) ? Object.entries(data) : []
  const panels = parts.filter((part): part is [string, Parameters] => isParts(part[1]))
  const loose = Object.fromEntries(parts.filter(([, value]) => !isParts(value)))
  return (
    <Section
      title="Supporting data"
      aside={
        <Button variant="subtle" aria-pressed={asJson} onClick={() => setAsJson(!asJson)}>
          {asJson ? 'Show as panels' : 'Show as JSON'}
        </Button>
      }
    >
      {asJson || parts.length === 0 ? (
        <Code text={prettyValue(data)} label="Supporting data as JSON" wrap />
      ) : (
        <div className={styles.cards}>
          {Object.keys(loose).length > 0 && (
            <div className={styles.panel}>
              <Facts parameters={loose} />
            </div>
          )}
          {panels.map(([name, values]) => (
            <section key={name} className={styles.panel} aria-label={name}>
              <h3 className={styles.cardTitle}>{name}</h3>
              <Facts parameters={values} />
            </section>
          ))}
        </div>
      )}
    </Section>
  )
}
