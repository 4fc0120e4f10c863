import { Fragment } from 'react'
import type { ActionDetail } from '~/api/types'
import { visibleParts } from '~/lib/escapes'
import { formatValue } from '~/lib/json'
import { Notice } from '~/ui/Notice'
import { Section } from '~/ui/Page'
import styles from './ActionDetails.module.css'

/** The exact request, as it is sent: raw names and values, with deceptive characters as escapes. */
export function ActionRequest({ action }: { action: ActionDetail }) {
  const fields = Object.entries(action.request)
  return (
    <Section
      title="Request"
      aside={
        <span className={styles.operation}>
          <code className={styles.tag}>{action.operation_type}</code>
          <span className={styles.execution}>
            {action.executed_by_cairn
              ? 'executed by Cairn after approval'
              : 'executed by the proposer after approval'}
          </span>
        </span>
      }
    >
      {action.untrusted && (
        <Notice tone="ochre" title="Untrusted">
          The proposal used content from outside.
        </Notice>
      )}
      <div className={styles.panel}>
        {fields.length === 0 ? (
          <p className={styles.nested}>The request has no parameters, or is no longer stored.</p>
        ) : (
          <dl className={styles.request}>
            {fields.map(([name, value]) => (
              <div key={name}>
                <dt>
                  <VisibleText text={name} />
                </dt>
                <dd>
                  <VisibleText text={typeof value === 'string' ? value : formatValue(value)} />
                </dd>
              </div>
            ))}
          </dl>
        )}
      </div>
    </Section>
  )
}

function VisibleText({ text }: { text: string }) {
  return visibleParts(text).map((part, index) =>
    part.escaped ? (
      // biome-ignore lint/suspicious/noArrayIndexKey: a part of a fixed text is its place.
      <mark key={index} className={styles.escape}>
        {part.text}
      </mark>
    ) : (
      // biome-ignore lint/suspicious/noArrayIndexKey: a part of a fixed text is its place.
      <Fragment key={index}>{part.text}</Fragment>
    ),
  )
}
