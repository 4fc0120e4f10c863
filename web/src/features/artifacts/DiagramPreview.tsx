import { Button, useComputedColorScheme } from '@mantine/core'
import { IconArrowsMaximize, IconArrowsMinimize } from '@tabler/icons-react'
import { useEffect, useState } from 'react'
import { Code } from '~/ui/Code'
import { LoadingText } from '~/ui/Loading'
import { Notice } from '~/ui/Notice'
import styles from './Artifacts.module.css'
import { draw } from './mermaid'

type Drawn = { address: string } | { fault: string } | null

/** A Mermaid diagram, drawn, with its source beside it. It is an image: nothing in it can act. */
export function Diagram({ text, name }: { text: string; name: string }) {
  const drawn = useDrawing(text)
  const [whole, setWhole] = useState(false)
  return (
    <div className={styles.pair}>
      {drawn === null ? (
        <LoadingText lines={4} />
      ) : 'fault' in drawn ? (
        <Notice tone="red" title="This diagram cannot be drawn.">
          <pre className={styles.fault}>{drawn.fault}</pre>
        </Notice>
      ) : (
        <figure className={styles.diagram}>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scroll area must be reachable with the keyboard. */}
          <section tabIndex={0} aria-label={`Diagram of ${name}`}>
            <img
              src={drawn.address}
              alt={`Drawn from the source of ${name}`}
              data-whole={whole || undefined}
            />
          </section>
          <Button
            variant="subtle"
            leftSection={whole ? <IconArrowsMinimize size={15} /> : <IconArrowsMaximize size={15} />}
            onClick={() => setWhole(!whole)}
          >
            {whole ? 'Fit into the page' : 'Show in full size'}
          </Button>
        </figure>
      )}
      <Code text={text} label={`Content of ${name}`} lines />
    </div>
  )
}

function useDrawing(text: string): Drawn {
  const scheme = useComputedColorScheme('light', { getInitialValueInEffect: false })
  const [drawn, setDrawn] = useState<Drawn>(null)
  useEffect(() => {
    let address: string | null = null
    let isOver = false
    draw(text, scheme === 'dark').then(
      (svg) => {
        if (isOver) return
        address = URL.createObjectURL(new Blob([svg], { type: 'image/svg+xml' }))
        setDrawn({ address })
      },
      (error: unknown) => {
        if (!isOver) setDrawn({ fault: error instanceof Error ? error.message : String(error) })
      },
    )
    return () => {
      isOver = true
      if (address !== null) URL.revokeObjectURL(address)
    }
  }, [text, scheme])
  return drawn
}
