import { Input } from '@mantine/core'
import { IconSelector } from '@tabler/icons-react'
import { useId } from 'react'

type Option = { value: string; label: string; disabled?: boolean }
type Props = { label: string; value: string; options: readonly Option[]; onChange: (value: string) => void }

/** The browser's own select element, which works with every keyboard, phone and screen reader. */
export function SelectField({ label, value, options, onChange }: Props) {
  const id = useId()
  return (
    <Input.Wrapper label={label} id={id}>
      <Input
        component="select"
        id={id}
        value={value}
        onChange={(event) => onChange(event.currentTarget.value)}
        rightSection={<IconSelector size={15} />}
        rightSectionPointerEvents="none"
        pointer
      >
        {options.map((option) => (
          <option key={option.value} value={option.value} disabled={option.disabled}>
            {option.label}
          </option>
        ))}
      </Input>
    </Input.Wrapper>
  )
}
