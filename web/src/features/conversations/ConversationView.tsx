import { useMemo } from 'react'
import type { RunCheckpoint } from '~/api/types'
import { conversationEntries } from '~/lib/conversations'
import { LoadingText } from '~/ui/Loading'
import { Notice } from '~/ui/Notice'
import { LoadError } from '~/ui/ProblemNotice'
import styles from './Conversation.module.css'
import { ConversationEntries } from './ConversationEntries'
import { useConversation } from './useConversation'

type Props = { runId: string; executionId: string; item: RunCheckpoint }

/** What agents say, as they say it: who, with which tools, at what cost. */
export function ConversationView({ runId, executionId, item }: Props) {
  const conversation = useConversation(runId, executionId)
  const { messages, isHidden, streaming: coming, error, retry } = conversation
  const isRunning = item.status === 'in_progress'
  const entries = useMemo(
    () => conversationEntries(messages ?? [], isRunning ? coming : []),
    [messages, coming, isRunning],
  )
  return (
    <div className={styles.frame}>
      {error !== null && (
        <div className={styles.note}>
          <LoadError title="The conversation could not be read." error={error} retry={retry} />
        </div>
      )}
      {messages === undefined ? (
        error === null && (
          <div className={styles.note}>
            <LoadingText lines={4} />
          </div>
        )
      ) : isHidden && messages.length === 0 ? (
        <p className={styles.empty}>
          This conversation is hidden: the definition says <code>show_conversation: false</code>. It is kept,
          and an admin can read it.
        </p>
      ) : entries.length === 0 ? (
        <p className={styles.empty} role="status">
          {emptyText(item, isRunning)}
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
          <ConversationEntries
            entries={entries}
            hasOlder={conversation.hasOlder}
            loadingOlder={conversation.loadingOlder}
            onOlder={conversation.readOlder}
            isRunning={isRunning}
            label={`Conversation of ${item.name}`}
          />
        </>
      )}
    </div>
  )
}

function emptyText(item: RunCheckpoint, isRunning: boolean): string {
  if (isRunning && item.waiting_on === null)
    return 'Nobody has said anything yet. It appears here as it is said.'
  if (item.status === 'pending' || item.status === 'waiting_approval_to_start')
    return `${item.name} has not begun.`
  return 'Nothing was said.'
}
