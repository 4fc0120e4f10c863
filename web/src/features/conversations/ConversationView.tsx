import { useMemo } from 'react'
import type { TrailItem } from '~/api/types'
import { entriesOf } from '~/lib/conversations'
import { LoadingText } from '~/ui/Loading'
import { Notice } from '~/ui/Notice'
import { Failure } from '~/ui/ProblemNotice'
import styles from './Conversation.module.css'
import { Entries } from './ConversationEntries'
import { useTalk } from './useConversation'

type Props = { runId: string; executionId: string; item: TrailItem }

/** What agents say, as they say it: who, with which tools, at what cost. */
export function ConversationView({ runId, executionId, item }: Props) {
  const talk = useTalk(runId, executionId)
  const { messages, isHidden, coming, error, again } = talk
  const works = item.status === 'in_progress'
  const entries = useMemo(() => entriesOf(messages ?? [], works ? coming : []), [messages, coming, works])
  return (
    <div className={styles.frame}>
      {error !== null && (
        <div className={styles.note}>
          <Failure what="The conversation could not be read." error={error} retry={again} />
        </div>
      )}
      {messages === undefined ? (
        error === null && (
          <div className={styles.note}>
            <LoadingText lines={4} />
          </div>
        )
      ) : isHidden && messages.length === 0 ? (
        <p className={styles.none}>
          This conversation is hidden: the definition says <code>show_conversation: false</code>. It is kept,
          and an admin can read it.
        </p>
      ) : entries.length === 0 ? (
        <p className={styles.none} role="status">
          {noneWords(item, works)}
        </p>
      ) : (
        <>
          {isHidden && (
            <div className={styles.note}>
              <Notice tone="grey" title="Hidden from others.">
                You see it as an admin: the definition says <code>show_conversation: false</code>.
              </Notice>
            </div>
          )}
          <Entries
            entries={entries}
            older={talk.older}
            loadingOlder={talk.loadingOlder}
            onOlder={talk.readOlder}
            works={works}
            label={`Conversation of ${item.name}`}
          />
        </>
      )}
    </div>
  )
}

function noneWords(item: TrailItem, works: boolean): string {
  if (works && item.waiting_on === null) return 'Nobody has said anything yet. It appears here as it is said.'
  if (item.status === 'pending' || item.status === 'waiting_approval_to_start')
    return `${item.name} has not begun.`
  return 'Nothing was said.'
}
