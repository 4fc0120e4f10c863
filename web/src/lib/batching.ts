/** Collects items and delivers them once per frame, so that a burst of events renders once. */
export function batch<T>(
  deliver: (items: T[]) => void,
  schedule: (run: () => void) => number = requestAnimationFrame,
  cancel: (handle: number) => void = cancelAnimationFrame,
): { add: (item: T) => void; stop: () => void } {
  let waiting: T[] = []
  let handle: number | null = null
  const flush = () => {
    handle = null
    const items = waiting
    waiting = []
    deliver(items)
  }
  return {
    add(item) {
      waiting.push(item)
      if (handle === null) handle = schedule(flush)
    },
    stop() {
      if (handle !== null) cancel(handle)
      handle = null
      waiting = []
    },
  }
}

/** Limits calls to one per interval (in milliseconds), with a final call for those in between. */
export function throttle(run: () => void, pause: number): { call: () => void; stop: () => void } {
  let timer: ReturnType<typeof setTimeout> | undefined
  let isPending = false
  const onTimer = () => {
    timer = undefined
    if (isPending) call()
  }
  const call = () => {
    if (timer !== undefined) {
      isPending = true
      return
    }
    isPending = false
    timer = setTimeout(onTimer, pause)
    run()
  }
  return { call, stop: () => clearTimeout(timer) }
}
