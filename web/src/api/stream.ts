import { batch } from '~/lib/batching'

export type StreamMessage = { type: string; data: string }
export type Connection = 'open' | 'lost'

const LOST_AFTER = 2500
const MAX_RETRY_DELAY = 10_000

type Options = {
  url: string
  types: readonly string[]
  /** Called once per frame with the messages that arrived. */
  onMessages: (messages: StreamMessage[]) => void
  /** Called after each (re)connection. Changes may have been missed before it. */
  onOpen: () => void
  onConnection?: (state: Connection) => void
}

/**
 * Opens a server stream and keeps it open: the browser resumes a dropped connection with the last event id, and this
 * reopens a rejected one. A hidden tab closes it, because browsers limit the connections to one server.
 */
export function openStream({ url, types, onMessages, onOpen, onConnection }: Options): () => void {
  const messages = batch<StreamMessage>(onMessages)
  let source: EventSource | null = null
  let reopenTimer: ReturnType<typeof setTimeout> | undefined
  let lostTimer: ReturnType<typeof setTimeout> | undefined
  let retryDelay = 1000

  const receive = (event: Event) =>
    messages.add({ type: event.type, data: String((event as MessageEvent).data ?? '') })

  const open = () => {
    source = new EventSource(url)
    source.onopen = () => {
      clearTimeout(lostTimer)
      lostTimer = undefined
      retryDelay = 1000
      onConnection?.('open')
      onOpen()
    }
    source.onerror = () => {
      lostTimer ??= setTimeout(() => onConnection?.('lost'), LOST_AFTER)
      if (source?.readyState !== EventSource.CLOSED) return
      reopenTimer = setTimeout(open, retryDelay)
      retryDelay = Math.min(retryDelay * 2, MAX_RETRY_DELAY)
    }
    for (const type of types) source.addEventListener(type, receive)
  }

  const close = () => {
    clearTimeout(reopenTimer)
    clearTimeout(lostTimer)
    lostTimer = undefined
    source?.close()
    source = null
  }

  const followVisibility = () => {
    if (document.hidden) close()
    else if (source === null) open()
  }

  document.addEventListener('visibilitychange', followVisibility)
  followVisibility()
  return () => {
    document.removeEventListener('visibilitychange', followVisibility)
    close()
    messages.stop()
  }
}

/** Never runs two refreshes at a time. Calls that arrive during a refresh cause one more afterwards. */
export function singleFlight(refresh: () => Promise<unknown>): () => void {
  let running = false
  let isPending = false
  const run = async () => {
    if (running) {
      isPending = true
      return
    }
    running = true
    try {
      do {
        isPending = false
        await refresh()
      } while (isPending)
    } catch {
      // Each query shows its own error.
    } finally {
      running = false
    }
  }
  return () => void run()
}
