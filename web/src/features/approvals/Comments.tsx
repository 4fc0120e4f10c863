import { Button, Textarea } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { addComment } from '~/api/commands'
import type { ApprovalDetail } from '~/api/types'
import { Section } from '~/ui/Page'
import { Refusal } from '~/ui/ProblemNotice'
import { Time } from '~/ui/Time'
import styles from './Comments.module.css'

const DECIDED: Record<string, string> = {
  approve: 'approved',
  modify: 'approved with changes',
  revise: 'asked for a revision',
  reject: 'rejected',
  refuse: 'did not let it start',
  accept: 'accepted it',
  feedback: 'gave feedback',
  retry: 'let it try again',
  restart: 'began a new pass',
  fail: 'let it fail',
  answer: 'answered',
  decline: 'declined to answer',
  escalate: 'escalated it',
}

type Line = { key: string; by: string; at: string; deed: string; text: string }

function linesOf(approval: ApprovalDetail): Line[] {
  const decided = approval.decisions.map((vote, index) => ({
    key: `vote ${index}`,
    by: vote.by,
    at: vote.at,
    deed: DECIDED[vote.decision] ?? vote.decision,
    text: vote.feedback,
  }))
  const said = approval.comments.map(({ comment_id, by, at, text }) => ({
    key: comment_id,
    by,
    at,
    deed: 'said',
    text,
  }))
  return [...decided, ...said].sort((a, b) => a.at.localeCompare(b.at))
}

/** What people have decided and said about it. */
export function Discussion({ approval, maySay }: { approval: ApprovalDetail; maySay: boolean }) {
  const client = useQueryClient()
  const [text, setText] = useState('')
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>(null)
  const lines = linesOf(approval)
  const send = async (event: FormEvent) => {
    event.preventDefault()
    if (text.trim() === '') return
    setBusy(true)
    setError(null)
    try {
      await addComment(approval.approval_id, text.trim())
      setText('')
    } catch (fault) {
      setError(fault)
    } finally {
      await client.invalidateQueries({ queryKey: ['approvals'] })
      setBusy(false)
    }
  }
  if (lines.length === 0 && !maySay) return null
  return (
    <Section title="What people say" count={lines.length || undefined}>
      <ol className={styles.said}>
        {lines.map((line) => (
          <li key={line.key}>
            <header>
              <span>
                <strong>{line.by}</strong> {line.deed}
              </span>
              <Time at={line.at} />
            </header>
            {line.text !== '' && <p>{line.text}</p>}
          </li>
        ))}
      </ol>
      {maySay && (
        <form className={styles.write} onSubmit={send}>
          <Textarea
            label="Say something without deciding"
            value={text}
            onChange={(event) => setText(event.currentTarget.value)}
            minRows={1}
          />
          <Button type="submit" size="md" loading={busy} disabled={text.trim() === ''}>
            Comment
          </Button>
        </form>
      )}
      {error !== null && <Refusal title="Not stored. Your words are kept." error={error} />}
    </Section>
  )
}
