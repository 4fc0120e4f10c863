import { Button, Textarea } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { addComment } from '~/api/commands'
import type { ApprovalDetail } from '~/api/types'
import { Section } from '~/ui/Page'
import { ProblemNotice } from '~/ui/ProblemNotice'
import { Time } from '~/ui/Time'
import styles from './Comments.module.css'

const DECISION_VERBS: Record<string, string> = {
  approve: 'approved',
  modify: 'approved with changes',
  revise: 'requested a revision',
  reject: 'rejected',
  refuse: 'postponed the start',
  accept: 'accepted the result',
  feedback: 'gave feedback',
  retry: 'retried it',
  restart: 'started a new pass',
  fail: 'failed the execution',
  answer: 'answered',
  decline: 'declined to answer',
  escalate: 'escalated it',
}

type CommentLine = { key: string; by: string; at: string; verb: string; text: string }

function linesOf(approval: ApprovalDetail): CommentLine[] {
  const votes = approval.decisions.map((vote, index) => ({
    key: `vote ${index}`,
    by: vote.by,
    at: vote.at,
    verb: DECISION_VERBS[vote.decision] ?? vote.decision,
    text: vote.feedback,
  }))
  const comments = approval.comments.map(({ comment_id, by, at, text }) => ({
    key: comment_id,
    by,
    at,
    verb: 'commented',
    text,
  }))
  return [...votes, ...comments].sort((a, b) => a.at.localeCompare(b.at))
}

/** Decisions and comments on an approval. */
export function Comments({ approval, canComment }: { approval: ApprovalDetail; canComment: boolean }) {
  const client = useQueryClient()
  const [text, setText] = useState('')
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => addComment(approval.approval_id, text.trim()),
    onSuccess: () => setText(''),
    onSettled: () => client.invalidateQueries({ queryKey: ['approvals'] }),
  })
  const lines = linesOf(approval)
  const send = (event: FormEvent) => {
    event.preventDefault()
    if (text.trim() !== '') mutate()
  }
  if (lines.length === 0 && !canComment) return null
  return (
    <Section title="Comments" count={lines.length || undefined}>
      <ol className={styles.comments}>
        {lines.map((line) => (
          <li key={line.key}>
            <header>
              <span>
                <strong>{line.by}</strong> {line.verb}
              </span>
              <Time at={line.at} />
            </header>
            {line.text !== '' && <p>{line.text}</p>}
          </li>
        ))}
      </ol>
      {canComment && (
        <form className={styles.form} onSubmit={send}>
          <Textarea
            label="Add a comment"
            value={text}
            onChange={(event) => setText(event.currentTarget.value)}
            minRows={1}
          />
          <Button type="submit" size="md" loading={isPending} disabled={text.trim() === ''}>
            Comment
          </Button>
        </form>
      )}
      {error !== null && (
        <ProblemNotice title="Couldn't save the comment. Your text is still here." error={error} />
      )}
    </Section>
  )
}
