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

/** Automatic approvals that were selected for review by people. */
export function Audits({ scope }: { scope: Scope }) {
  const [showAll, setShowAll] = useState(false)
  const pages = useInfiniteQuery(audits(!showAll, scope))
  const [reviewing, setReviewing] = useState<{ audit: Audit; agrees: boolean } | null>(null)
  const canReview = canDecide(useRoles())
  if (pages.error !== null)
    return (
      <LoadError title="Couldn't load the sample." error={pages.error} retry={() => void pages.refetch()} />
    )
  if (pages.data === undefined) return <LoadingRows rows={3} label="Loading sample" />
  const items = pages.data.pages.flatMap((page) => page.items)
  return (
    <div className={styles.sections}>
      <div className={styles.buttons}>
        <Button aria-pressed={showAll} onClick={() => setShowAll(!showAll)}>
          {showAll ? 'Show open audits only' : 'Show reviewed audits'}
        </Button>
      </div>
      {items.length === 0 ? (
        <EmptyState title={showAll ? 'No audits yet' : 'No open audits'}>
          Rules select a share of their automatic approvals for audit with{' '}
          <code>audit_sample_percentage</code>.
        </EmptyState>
      ) : (
        <DataTable
          label="Audits"
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
              <Time key="at" at={audit.requested_at} />,
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
  { title: 'Approval', width: 'minmax(0, 1.6fr)', untitled: true },
  { title: 'Operation', width: 'minmax(0, 1fr)' },
  { title: 'Rule', width: 'minmax(0, 1fr)' },
  { title: 'Approved', width: '100px' },
  { title: 'Review', width: 'minmax(220px, 1.2fr)', untitled: true, alignEnd: true },
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
          {review.agrees ? 'Agreed' : 'Disagreed'}, {review.by}
          {review.comment !== '' && <p>{review.comment}</p>}
        </span>
      )}
      {canReview && review === null && (
        <span className={styles.review}>
          <Button onClick={() => onReview(true)}>Agree…</Button>
          <Button onClick={() => onReview(false)}>Disagree…</Button>
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
      title={reviewing?.agrees ? 'Agree with this approval' : 'Disagree with this approval'}
      opened={reviewing !== null}
      onClose={close}
      cancelLabel="Cancel"
      submitLabel={reviewing?.agrees ? 'Record agreement' : 'Record disagreement'}
      errorTitle="Couldn't record your review."
      note="The run does not change. Your review counts in the rule statistics."
      onSubmit={async () => {
        if (reviewing === null) return
        await reviewAudit(reviewing.audit.approval_id, reviewing.agrees, comment.trim())
        await client.invalidateQueries({ queryKey: ['rules'] })
        showToast('Review recorded.')
        close()
      }}
    >
      <Textarea
        label="Reason (optional)"
        data-autofocus
        value={comment}
        onChange={(event) => setComment(event.currentTarget.value)}
      />
    </FormDialog>
  )
}
