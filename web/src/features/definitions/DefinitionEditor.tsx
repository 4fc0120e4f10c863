import type { ReactNode } from 'react'
import { checkDefinition } from '~/api/commands'
import { CheckedText, type Found } from '~/ui/YamlEditor'

type Props = { text: string; onChange: (text: string) => void; extra?: readonly Found[]; foot: ReactNode }

/** A definition in YAML, checked while one writes. */
export function DefinitionEditor(props: Props) {
  return (
    <CheckedText
      {...props}
      label="Definition in YAML"
      hint="Write or paste a definition; it is checked as you go."
      checks="definition check"
      check={checkDefinition}
    />
  )
}
