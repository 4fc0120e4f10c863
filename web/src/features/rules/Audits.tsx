import { Button, Textarea } from '@mantine/core'
import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { audits, reviewAudit, type Scope } from '~/api/rules'
import { useRoles } from '~/api/session'
import type { Audit } from '~/api/types'
import { canDecide } from '~/lib/states'
import { DataTable } from '~/ui/DataTable'
import { EmptyState } from '~/ui/EmptyState'
import { FormDialog } from '~/ui/FormDialog'
import { LoadingRows } from '~/ui/Loading'
import { LoadError } from '~/ui/ProblemNotice'
import { Time } from '~/ui/Time'
import { showToast } from '~/ui/toasts'
import styles from './Rules.module.css'

/** Automatic approvals that were drawn for people to look at: their judgement is what a rule is trusted by. */
export function Audits({ scope }: { scope: Scope }) {
  const [showAll, setShowAll] = useState(false)
  const pages = useInfiniteQuery(audits(!showAll, scope))
  const [reviewing, setReviewing] = useState<{ audit: Audit; agrees: boolean } | null>(null)
  const canReview = canDecide(useRoles())
  if (pages.error !== null)
    return (
      <LoadError
        title="The sample could not be read."
        error={pages.error}
        retry={() => void pages.refetch()}
      />
    )
  if (pages.data === undefined) return <LoadingRows rows={3} label="Loading the sample" />
  const items = pages.data.pages.flatMap((page) => page.items)
  return (
    <div className={styles.sections}>
      <div className={styles.buttons}>
        <Button aria-pressed={showAll} onClick={() => setShowAll(!showAll)}>
          {showAll ? 'Show only what is still to be looked at' : 'Show also what was looked at'}
        </Button>
      </div>
      {items.length === 0 ? (
        <EmptyState title={showAll ? 'No automatic approval was drawn yet' : 'Nothing to look at'}>
          A rule draws some of its approvals with <code>audit_sample_percentage</code>.
        </EmptyState>
      ) : (
        <DataTable
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
              <AuditReview
                key="said"
                audit={audit}
                canReview={canReview}
                onReview={(agrees) => setReviewing({ audit, agrees })}
              />,
            ],
          }))}
        />
      )}
      {pages.hasNextPage && (
        <Button loading={pages.isFetchingNextPage} onClick={() => void pages.fetchNextPage()}>
          Show more
        </Button>
      )}
      <ReviewDialog reviewing={reviewing} onClose={() => setReviewing(null)} />
    </div>
  )
}

const COLUMNS = [
  { title: 'What', width: 'minmax(0, 1.6fr)', untitled: true },
  { title: 'Operation', width: 'minmax(0, 1fr)' },
  { title: 'Rule', width: 'minmax(0, 1fr)' },
  { title: 'Approved', width: '100px' },
  { title: 'Your judgement', width: 'minmax(220px, 1.2fr)', untitled: true, alignEnd: true },
]

function AuditReview({
  audit,
  canReview,
  onReview,
}: {
  audit: Audit
  canReview: boolean
  onReview: (agrees: boolean) => void
}) {
  const { review } = audit
  return (
    <>
      {review !== null && (
        <span>
          {review.agrees ? 'Agreed' : 'Not agreed'}, {review.by}
          {review.comment !== '' && <p>{review.comment}</p>}
        </span>
      )}
      {canReview && review === null && (
        <span className={styles.review}>
          <Button onClick={() => onReview(true)}>I agree…</Button>
          <Button onClick={() => onReview(false)}>I would not have…</Button>
        </span>
      )}
    </>
  )
}

function ReviewDialog({
  reviewing,
  onClose,
}: {
  reviewing: { audit: Audit; agrees: boolean } | null
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
      title={reviewing?.agrees ? 'You would have approved it too' : 'You would not have approved it'}
      opened={reviewing !== null}
      onClose={close}
      cancelLabel="Not yet"
      submitLabel={reviewing?.agrees ? 'Record that I agree' : 'Record that I disagree'}
      errorTitle="Your judgement was not recorded."
      note="The run goes its way; the rule is judged by it."
      onSubmit={async () => {
        if (reviewing === null) return
        await reviewAudit(reviewing.audit.approval_id, reviewing.agrees, comment.trim())
        await client.invalidateQueries({ queryKey: ['rules'] })
        showToast('Your judgement is recorded.')
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
