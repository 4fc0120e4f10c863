import { Button, useComputedColorScheme } from '@mantine/core'
import { IconArrowsMaximize, IconArrowsMinimize } from '@tabler/icons-react'
import { useEffect, useState } from 'react'
import { Code } from '~/ui/Code'
import { LoadingText } from '~/ui/Loading'
import { Notice } from '~/ui/Notice'
import styles from './Artifacts.module.css'
import { renderDiagram } from './mermaid'

type RenderedDiagram = { url: string } | { error: string } | null

/** A Mermaid diagram with its source. It is rendered as an image, so nothing in it can execute. */
export function DiagramPreview({ text, name }: { text: string; name: string }) {
  const rendered = useRenderedDiagram(text)
  const [fullSize, setFullSize] = useState(false)
  return (
    <div className={styles.diagramWithSource}>
      {rendered === null ? (
        <LoadingText lines={4} />
      ) : 'error' in rendered ? (
        <Notice tone="red" title="This diagram can't be displayed.">
          <pre className={styles.error}>{rendered.error}</pre>
        </Notice>
      ) : (
        <figure className={styles.diagram}>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scroll area must be reachable with the keyboard. */}
          <section tabIndex={0} aria-label={`Diagram of ${name}`}>
            <img src={rendered.url} alt={`Diagram from ${name}`} data-full-size={fullSize || undefined} />
          </section>
          <Button
            variant="subtle"
            leftSection={fullSize ? <IconArrowsMinimize size={15} /> : <IconArrowsMaximize size={15} />}
            onClick={() => setFullSize(!fullSize)}
          >
            {fullSize ? 'Fit to page' : 'View full size'}
          </Button>
        </figure>
      )}
      <Code text={text} label={`Content of ${name}`} lines />
    </div>
  )
}

function useRenderedDiagram(text: string): RenderedDiagram {
  const scheme = useComputedColorScheme('light', { getInitialValueInEffect: false })
  const [rendered, setRendered] = useState<RenderedDiagram>(null)
  useEffect(() => {
    let url: string | null = null
    let isCancelled = false
    renderDiagram(text, scheme === 'dark').then(
      (svg) => {
        if (isCancelled) return
        url = URL.createObjectURL(new Blob([svg], { type: 'image/svg+xml' }))
        setRendered({ url })
      },
      (error: unknown) => {
        if (!isCancelled) setRendered({ error: error instanceof Error ? error.message : String(error) })
      },
    )
    return () => {
      isCancelled = true
      if (url !== null) URL.revokeObjectURL(url)
    }
  }, [text, scheme])
  return rendered
}
