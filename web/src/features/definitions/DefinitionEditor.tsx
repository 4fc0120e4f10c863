import type { ReactNode } from 'react'
import { checkDefinition } from '~/api/commands'
import { type EditorFinding, YamlEditor } from '~/ui/YamlEditor'

type Props = {
  text: string
  onChange: (text: string) => void
  extraFindings?: readonly EditorFinding[]
  footer: ReactNode
}

/** A definition in YAML, checked while one writes. */
export function DefinitionEditor(props: Props) {
  return (
    <YamlEditor
      {...props}
      label="Definition in YAML"
      hint="Write or paste a definition; it is checked as you go."
      checkName="definition check"
      check={checkDefinition}
    />
  )
}
