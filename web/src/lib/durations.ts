const MINUTE = 60
const HOUR = 3600
const DAY = 86400

/** 41 s, 3 min 12 s, 5 h 10 min, 2 days. */
export function formatDuration(seconds: number): string {
  const rounded = Math.max(0, Math.round(seconds))
  if (rounded < MINUTE) return seconds > 0 && seconds < 0.95 ? '< 1 s' : `${rounded} s`
  if (rounded < HOUR) {
    const rest = rounded % MINUTE
    const minutes = Math.floor(rounded / MINUTE)
    return rest === 0 ? `${minutes} min` : `${minutes} min ${rest} s`
  }
  if (rounded < DAY) {
    const minutes = Math.floor((rounded % HOUR) / MINUTE)
    return minutes === 0
      ? `${Math.floor(rounded / HOUR)} h`
      : `${Math.floor(rounded / HOUR)} h ${minutes} min`
  }
  const days = Math.floor(rounded / DAY)
  const hours = Math.floor((rounded % DAY) / HOUR)
  const text = days === 1 ? '1 day' : `${days} days`
  return hours === 0 ? text : `${text} ${hours} h`
}

/** A rough estimate: about 2 min. */
export function formatEstimate(seconds: number): string {
  if (seconds < MINUTE) return 'less than a minute'
  if (seconds < HOUR) return `about ${Math.round(seconds / MINUTE)} min`
  if (seconds < DAY) return `about ${Math.round(seconds / HOUR)} h`
  const days = Math.round(seconds / DAY)
  return `about ${days} ${days === 1 ? 'day' : 'days'}`
}

const sameDay = (one: Date, other: Date) => one.toDateString() === other.toDateString()

/** Relative for one day, then the date. */
export function timeAgo(instant: string, now: Date): string {
  const then = new Date(instant)
  const seconds = (now.getTime() - then.getTime()) / 1000
  if (seconds < 45) return 'just now'
  if (seconds < HOUR) return `${Math.max(1, Math.round(seconds / MINUTE))} min ago`
  if (seconds < DAY) return `${Math.round(seconds / HOUR)} h ago`
  const yesterday = new Date(now)
  yesterday.setDate(now.getDate() - 1)
  return sameDay(then, yesterday) ? 'yesterday' : formatDay(then, now)
}

/** 52 min left. Null without a deadline. */
export function timeLeft(until: string | null, now: Date): string | null {
  if (until === null) return null
  const seconds = (new Date(until).getTime() - now.getTime()) / 1000
  return seconds <= 0
    ? 'overdue'
    : `${formatDuration(seconds < HOUR ? Math.ceil(seconds / MINUTE) * MINUTE : seconds)} left`
}

type TimeoutPolicy = {
  on_timeout: 'fail' | 'cancel' | 'escalate' | null
  escalate_to: readonly string[]
  escalated: boolean
}

/** The consequence of a missed deadline, such as “then it fails”. */
export function timeoutText({ on_timeout, escalate_to, escalated }: TimeoutPolicy): string | null {
  switch (on_timeout) {
    case 'fail':
      return 'then it fails'
    case 'cancel':
      return 'then the run is cancelled'
    case 'escalate':
      if (escalated) return 'then it fails'
      return `then escalates to ${escalate_to.join(', ') || 'others'}`
    default:
      return null
  }
}

export function formatDay(then: Date, now: Date): string {
  const year = then.getFullYear() === now.getFullYear() ? undefined : 'numeric'
  return then.toLocaleDateString('en-GB', { day: 'numeric', month: 'short', year })
}

/** 14:07 today, 12 Nov, 14:07 on other days. */
export function formatTime(instant: string, now: Date): string {
  const then = new Date(instant)
  const time = then.toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit' })
  return sameDay(then, now) ? time : `${formatDay(then, now)}, ${time}`
}

/** 14:07:31 */
export function formatSecond(instant: string): string {
  return new Date(instant).toLocaleTimeString('en-GB')
}

/** The full date and time, for tooltips and tables. */
export function formatDateTime(instant: string): string {
  return new Date(instant).toLocaleString('en-GB', { dateStyle: 'medium', timeStyle: 'medium' })
}
