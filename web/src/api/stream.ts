import { batch } from '~/lib/batching'

export type Message = { type: string; data: string }
export type Connection = 'open' | 'lost'

const PATIENCE = 2500
const SLOWEST = 10_000

type Options = {
  url: string
  types: readonly string[]
  /** What came in one frame. */
  onMessages: (messages: Message[]) => void
  /** The line stands, for the first time or again: things may have happened before it did. */
  onOpen: () => void
  onConnection?: (state: Connection) => void
}

/**
 * Listens to a stream of the server and stays with it: the browser resumes a cut line by the last id, this opens a
 * refused one again. A hidden tab lets go, because a browser allows few connections to one server.
 */
export function listen({ url, types, onMessages, onOpen, onConnection }: Options): () => void {
  const messages = batch<Message>(onMessages)
  let source: EventSource | null = null
  let again: ReturnType<typeof setTimeout> | undefined
  let worry: ReturnType<typeof setTimeout> | undefined
  let wait = 1000

  const receive = (event: Event) =>
    messages.add({ type: event.type, data: String((event as MessageEvent).data ?? '') })

  const open = () => {
    source = new EventSource(url)
    source.onopen = () => {
      clearTimeout(worry)
      worry = undefined
      wait = 1000
      onConnection?.('open')
      onOpen()
    }
    source.onerror = () => {
      worry ??= setTimeout(() => onConnection?.('lost'), PATIENCE)
      if (source?.readyState !== EventSource.CLOSED) return
      again = setTimeout(open, wait)
      wait = Math.min(wait * 2, SLOWEST)
    }
    for (const type of types) source.addEventListener(type, receive)
  }

  const close = () => {
    clearTimeout(again)
    clearTimeout(worry)
    worry = undefined
    source?.close()
    source = null
  }

  const look = () => {
    if (document.hidden) close()
    else if (source === null) open()
  }

  document.addEventListener('visibilitychange', look)
  look()
  return () => {
    document.removeEventListener('visibilitychange', look)
    close()
    messages.stop()
  }
}

/** Runs a refresh, and once more if more came in meanwhile: never two at a time, never one too few. */
export function refresher(refresh: () => Promise<unknown>): () => void {
  let running = false
  let again = false
  const go = async () => {
    if (running) {
      again = true
      return
    }
    running = true
    try {
      do {
        again = false
        await refresh()
      } while (again)
    } catch {
      // Each query shows its own failure.
    } finally {
      running = false
    }
  }
  return () => void go()
}
