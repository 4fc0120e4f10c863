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

/** The live conversation of agents with their tool calls and costs. */
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
          <LoadError title="Couldn't load the conversation." error={error} retry={retry} />
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
          This conversation is hidden by <code>show_conversation: false</code> in the definition. Admins can
          read it.
        </p>
      ) : entries.length === 0 ? (
        <p className={styles.empty} role="status">
          {emptyText(item, isRunning)}
        </p>
      ) : (
        <>
          {isHidden && (
            <div className={styles.note}>
              <Notice tone="grey" title="Hidden from other users.">
                The definition sets <code>show_conversation: false</code>. You can read it because you are an
                admin.
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
  if (isRunning && item.waiting_on === null) return 'No messages yet. They appear here as they arrive.'
  if (item.status === 'pending' || item.status === 'waiting_approval_to_start')
    return `${item.name} hasn't started.`
  return 'No messages.'
}
