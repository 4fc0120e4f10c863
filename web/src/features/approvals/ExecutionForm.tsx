import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useEffect, useRef, useState } from 'react'
import { submitForm } from '~/api/commands'
import type { Execution, Form } from '~/api/types'
import { deleteDraft, draftKey, readDraft, saveDraft } from '~/lib/drafts'
import { asProblem, errorsByField, isStale, type Problem } from '~/lib/problems'
import { Notice } from '~/ui/Notice'
import { showToast } from '~/ui/toasts'
import styles from './ExecutionForm.module.css'
import { FieldInput } from './FieldInput'
import { type FormInputs, initialValues, parseAnswers } from './formValues'

export const FORM_ID = 'execution-form'

type Props = {
  execution: Execution
  form: Form
  disabled: boolean
  onBusy: (busy: boolean) => void
}

/** The form of a checkpoint. Input is saved in the tab until it is submitted. */
export function ExecutionForm({ execution, form, disabled, onBusy }: Props) {
  const client = useQueryClient()
  const key = draftKey(execution.execution_id, execution.revision_iteration)
  const [draft] = useState(() => readDraft(sessionStorage, key))
  const [values, setValues] = useState<FormInputs>(() => initialValues(form, draft))
  const [errors, setErrors] = useState<Record<string, string>>({})
  const [problem, setProblem] = useState<Problem | null>(null)
  // The digest of the form that was shown, not of a version that arrives later.
  const digest = useRef(execution.approval?.digest ?? execution.digest)
  const body = useRef<HTMLFormElement>(null)
  useEffect(() => {
    const first = form.fields.find((field) => errors[field.name] !== undefined)
    if (first !== undefined) body.current?.querySelector<HTMLElement>(`[id="field-${first.name}"]`)?.focus()
  }, [errors, form])

  const change = (name: string, value: FormInputs[string]) => {
    const next = { ...values, [name]: value }
    setValues(next)
    if (errors[name] !== undefined) setErrors(({ [name]: _, ...rest }) => rest)
    saveDraft(sessionStorage, key, next)
  }

  const showProblem = (failure: unknown) => {
    const refused = asProblem(failure)
    const byField = errorsByField(
      refused,
      form.fields.map((field) => field.name),
    )
    setErrors(byField)
    setProblem(Object.keys(byField).length > 0 && refused.status === 422 ? null : refused)
    if (isStale(refused)) digest.current = null
  }

  const send = useMutation({
    mutationFn: (answers: Record<string, unknown>) =>
      submitForm(execution.execution_id, answers, digest.current),
    onMutate: () => onBusy(true),
    onSuccess: () => {
      deleteDraft(sessionStorage, key)
      showToast(`Form submitted: ${execution.checkpoint_name}.`)
    },
    onError: showProblem,
    onSettled: async () => {
      await client.invalidateQueries({ queryKey: ['run', execution.run_id] })
      void client.invalidateQueries({ queryKey: ['approvals'] })
      onBusy(false)
    },
  })

  const submit = (event: FormEvent) => {
    event.preventDefault()
    setProblem(null)
    const answers = parseAnswers(form, values)
    if ('errors' in answers) {
      setErrors(answers.errors)
      return
    }
    setErrors({})
    send.mutate(answers.fields)
  }

  return (
    <form id={FORM_ID} ref={body} className={styles.form} onSubmit={submit} noValidate>
      {form.feedback !== null && form.feedback !== '' && (
        <Notice tone="ochre" title="Revision requested">
          {form.feedback}
        </Notice>
      )}
      {form.instructions !== '' && <p className={styles.instructions}>{form.instructions}</p>}
      {draft !== null && <p className={styles.note}>Your unsent answers were restored.</p>}
      {problem !== null && (
        <Notice
          tone={isStale(problem) ? 'ochre' : 'red'}
          title={
            isStale(problem)
              ? 'The form changed in the meantime. Your answers are still here.'
              : "Couldn't submit the form. Your answers are still here."
          }
        >
          {problem.detail}
        </Notice>
      )}
      {form.fields.map((field) => (
        <FieldInput
          key={field.field_id}
          executionId={execution.execution_id}
          field={field}
          value={values[field.name] ?? null}
          error={errors[field.name]}
          disabled={disabled}
          onChange={(value) => change(field.name, value)}
        />
      ))}
      {form.fields.length === 0 && (
        <p className={styles.note}>This form has no fields. Submit it to confirm that the work is done.</p>
      )}
    </form>
  )
}
