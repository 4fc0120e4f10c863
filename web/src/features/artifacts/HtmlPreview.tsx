import { SegmentedControl } from '@mantine/core'
import { useState } from 'react'
import { withContentPolicy } from '~/lib/files'
import { Code } from '~/ui/Code'
import styles from './Artifacts.module.css'

/** An untrusted HTML page without scripts, forms and external resources. */
export function HtmlPreview({ text, name }: { text: string; name: string }) {
  const [view, setView] = useState('page')
  return (
    <>
      <div className={styles.viewSwitch}>
        <SegmentedControl
          aria-label={`View of ${name}`}
          value={view}
          onChange={setView}
          data={[
            { value: 'page', label: 'Page' },
            { value: 'source', label: 'Source' },
          ]}
        />
        {view === 'page' && <span className={styles.note}>Scripts and external resources are blocked.</span>}
      </div>
      {view === 'page' ? (
        <iframe
          className={styles.page}
          title={`Preview of ${name}`}
          sandbox=""
          referrerPolicy="no-referrer"
          srcDoc={withContentPolicy(text)}
        />
      ) : (
        <Code text={text} label={`Content of ${name}`} lines />
      )}
    </>
  )
}
