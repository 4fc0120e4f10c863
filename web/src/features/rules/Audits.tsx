import { Button, Textarea } from '@mantine/core'
import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { audits, reviewAudit, type Scope } from '~/api/rules'
import { useRoles } from '~/api/session'
import type { Audit } from '~/api/types'
import { mayDecide } from '~/lib/states'
import { Sheet } from '~/ui/DataTable'
import { Empty } from '~/ui/EmptyState'
import { FormDialog } from '~/ui/FormDialog'
import { LoadingRows } from '~/ui/Loading'
import { Failure } from '~/ui/ProblemNotice'
import { Time } from '~/ui/Time'
import { tell } from '~/ui/toasts'
import styles from './Rules.module.css'

/** Automatic approvals that were drawn for people to look at: their judgement is what a rule is trusted by. */
export function Samples({ scope }: { scope: Scope }) {
  const [all, setAll] = useState(false)
  const found = useInfiniteQuery(audits(!all, scope))
  const [said, setSaid] = useState<{ audit: Audit; agrees: boolean } | null>(null)
  const may = mayDecide(useRoles())
  if (found.error !== null)
    return (
      <Failure what="The sample could not be read." error={found.error} retry={() => void found.refetch()} />
    )
  if (found.data === undefined) return <LoadingRows rows={3} label="Loading the sample" />
  const items = found.data.pages.flatMap((page) => page.items)
  return (
    <div className={styles.parts}>
      <div className={styles.buttons}>
        <Button aria-pressed={all} onClick={() => setAll(!all)}>
          {all ? 'Show only what is still to be looked at' : 'Show also what was looked at'}
        </Button>
      </div>
      {items.length === 0 ? (
        <Empty title={all ? 'No automatic approval was drawn yet' : 'Nothing to look at'}>
          A rule draws some of its approvals with <code>audit_sample_percentage</code>.
        </Empty>
      ) : (
        <Sheet
          label="Automatic approvals to look at"
          columns={COLUMNS}
          rows={items.map((audit) => ({
            key: audit.approval_id,
            cells: [
              <Link key="what" to="/approvals/$approvalId" params={{ approvalId: audit.approval_id }}>
                {audit.pipeline_name}
                {audit.run_version !== null && ` v${audit.run_version}`}, {audit.checkpoint_name}
              </Link>,
              audit.operation_type ?? audit.kind,
              audit.rule,
              <Time key="at" at={audit.asked_at} />,
              <Said key="said" audit={audit} may={may} onSay={(agrees) => setSaid({ audit, agrees })} />,
            ],
          }))}
        />
      )}
      {found.hasNextPage && (
        <Button loading={found.isFetchingNextPage} onClick={() => void found.fetchNextPage()}>
          Show more
        </Button>
      )}
      <ReviewDialog said={said} onClose={() => setSaid(null)} />
    </div>
  )
}

const COLUMNS = [
  { title: 'What', width: 'minmax(0, 1.6fr)', bare: true },
  { title: 'Operation', width: 'minmax(0, 1fr)' },
  { title: 'Rule', width: 'minmax(0, 1fr)' },
  { title: 'Approved', width: '100px' },
  { title: 'Your judgement', width: 'minmax(220px, 1.2fr)', bare: true, end: true },
]

function Said({ audit, may, onSay }: { audit: Audit; may: boolean; onSay: (agrees: boolean) => void }) {
  const { review } = audit
  return (
    <>
      {review !== null && (
        <span>
          {review.agrees ? 'Agreed' : 'Not agreed'}, {review.by}
          {review.comment !== '' && <p>{review.comment}</p>}
        </span>
      )}
      {may && review === null && (
        <span className={styles.review}>
          <Button onClick={() => onSay(true)}>I agree…</Button>
          <Button onClick={() => onSay(false)}>I would not have…</Button>
        </span>
      )}
    </>
  )
}

function ReviewDialog({
  said,
  onClose,
}: {
  said: { audit: Audit; agrees: boolean } | null
  onClose: () => void
}) {
  const client = useQueryClient()
  const [comment, setComment] = useState('')
  const close = () => {
    setComment('')
    onClose()
  }
  return (
    <FormDialog
      title={said?.agrees ? 'You would have approved it too' : 'You would not have approved it'}
      opened={said !== null}
      onClose={close}
      keep="Not yet"
      send={said?.agrees ? 'Record that I agree' : 'Record that I disagree'}
      refused="Your judgement was not recorded."
      note="The run goes its way; the rule is judged by it."
      onSend={async () => {
        if (said === null) return
        await reviewAudit(said.audit.approval_id, said.agrees, comment.trim())
        await client.invalidateQueries({ queryKey: ['rules'] })
        tell('Your judgement is recorded.')
        close()
      }}
    >
      <Textarea
        label="Why (optional)"
        data-autofocus
        value={comment}
        onChange={(event) => setComment(event.currentTarget.value)}
      />
    </FormDialog>
  )
}
