import type { ReactNode } from 'react'
import { checkDefinition } from '~/api/commands'
import { type EditorFinding, YamlEditor } from '~/ui/YamlEditor'

type Props = {
  text: string
  onChange: (text: string) => void
  extraFindings?: readonly EditorFinding[]
  footer: ReactNode
}

/** A YAML editor that validates a definition while the user types. */
export function DefinitionEditor(props: Props) {
  return (
    <YamlEditor
      {...props}
      label="Definition (YAML)"
      hint="Write or paste a definition. It is validated as you type."
      checkName="definition check"
      check={checkDefinition}
    />
  )
}
