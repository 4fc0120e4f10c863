import { useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useEffect, useRef, useState } from 'react'
import { submitForm } from '~/api/commands'
import type { Execution, Form } from '~/api/types'
import { draftKey, dropDraft, keepDraft, readDraft } from '~/lib/drafts'
import { asProblem, faultsByField, isStale, type Problem } from '~/lib/problems'
import { Notice } from '~/ui/Notice'
import { tell } from '~/ui/toasts'
import styles from './ExecutionForm.module.css'
import { Field } from './FieldInput'
import { answersOf, openingValues, type Typed } from './formValues'

export const FORM_ID = 'execution-form'

type Props = {
  execution: Execution
  form: Form
  disabled: boolean
  onBusy: (busy: boolean) => void
}

/** The form of a checkpoint that people do. What is typed is kept in the tab until it is stored. */
export function ExecutionForm({ execution, form, disabled, onBusy }: Props) {
  const client = useQueryClient()
  const key = draftKey(execution.execution_id, execution.revision_iteration)
  const [kept] = useState(() => readDraft(sessionStorage, key))
  const [values, setValues] = useState<Typed>(() => openingValues(form, kept))
  const [faults, setFaults] = useState<Record<string, string>>({})
  const [problem, setProblem] = useState<Problem | null>(null)
  // The digest of the question that was read, not of whatever arrives while somebody types.
  const digest = useRef(execution.approval?.digest ?? execution.digest)
  const body = useRef<HTMLFormElement>(null)
  useEffect(() => {
    const first = form.fields.find((field) => faults[field.name] !== undefined)
    if (first !== undefined) body.current?.querySelector<HTMLElement>(`[id="field-${first.name}"]`)?.focus()
  }, [faults, form])

  const change = (name: string, value: Typed[string]) => {
    const next = { ...values, [name]: value }
    setValues(next)
    if (faults[name] !== undefined) setFaults(({ [name]: _, ...rest }) => rest)
    keepDraft(sessionStorage, key, next)
  }

  const refuse = (fault: unknown) => {
    const refusal = asProblem(fault)
    const named = faultsByField(
      refusal,
      form.fields.map((field) => field.name),
    )
    setFaults(named)
    setProblem(Object.keys(named).length > 0 && refusal.status === 422 ? null : refusal)
    if (isStale(refusal)) digest.current = null
  }

  const submit = async (event: FormEvent) => {
    event.preventDefault()
    setProblem(null)
    const answers = answersOf(form, values)
    if ('faults' in answers) {
      setFaults(answers.faults)
      return
    }
    setFaults({})
    onBusy(true)
    try {
      await submitForm(execution.execution_id, answers.fields, digest.current)
      dropDraft(sessionStorage, key)
      tell(`${execution.checkpoint_name} is filled in.`)
    } catch (fault) {
      refuse(fault)
    } finally {
      await client.invalidateQueries({ queryKey: ['run', execution.run_id] })
      void client.invalidateQueries({ queryKey: ['approvals'] })
      onBusy(false)
    }
  }

  return (
    <form id={FORM_ID} ref={body} className={styles.form} onSubmit={submit} noValidate>
      {form.feedback !== null && form.feedback !== '' && (
        <Notice tone="ochre" title="Sent back with this feedback">
          {form.feedback}
        </Notice>
      )}
      {form.instructions !== '' && <p className={styles.instructions}>{form.instructions}</p>}
      {kept !== null && <p className={styles.kept}>Your entries from before are still here.</p>}
      {problem !== null && (
        <Notice
          tone={isStale(problem) ? 'ochre' : 'red'}
          title={
            isStale(problem)
              ? 'The question changed meanwhile. Your entries are kept.'
              : 'Not stored. Your entries are kept.'
          }
        >
          {problem.detail}
        </Notice>
      )}
      {form.fields.map((field) => (
        <Field
          key={field.field_id}
          executionId={execution.execution_id}
          field={field}
          value={values[field.name] ?? null}
          error={faults[field.name]}
          disabled={disabled}
          onChange={(value) => change(field.name, value)}
        />
      ))}
      {form.fields.length === 0 && (
        <p className={styles.kept}>There is nothing to fill in. Confirm that it is done.</p>
      )}
    </form>
  )
}
