const MINUTE = 60
const HOUR = 3600
const DAY = 86400

/** 41 s, 3 min 12, 5 h 10 min, 2 days. */
export function duration(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds))
  if (whole < MINUTE) return seconds > 0 && seconds < 0.95 ? '< 1 s' : `${whole} s`
  if (whole < HOUR) {
    const rest = whole % MINUTE
    const minutes = Math.floor(whole / MINUTE)
    return rest === 0 ? `${minutes} min` : `${minutes} min ${String(rest).padStart(2, '0')}`
  }
  if (whole < DAY) {
    const minutes = Math.floor((whole % HOUR) / MINUTE)
    return minutes === 0 ? `${Math.floor(whole / HOUR)} h` : `${Math.floor(whole / HOUR)} h ${minutes} min`
  }
  const days = Math.floor(whole / DAY)
  const hours = Math.floor((whole % DAY) / HOUR)
  const words = days === 1 ? '1 day' : `${days} days`
  return hours === 0 ? words : `${words} ${hours} h`
}

/** About 2 min; coarse on purpose. */
export function estimate(seconds: number): string {
  if (seconds < MINUTE) return 'less than a minute'
  if (seconds < HOUR) return `about ${Math.round(seconds / MINUTE)} min`
  if (seconds < DAY) return `about ${Math.round(seconds / HOUR)} h`
  const days = Math.round(seconds / DAY)
  return `about ${days} ${days === 1 ? 'day' : 'days'}`
}

const sameDay = (one: Date, other: Date) => one.toDateString() === other.toDateString()

/** Relative under a day, then the date. */
export function ago(instant: string, now: Date): string {
  const then = new Date(instant)
  const seconds = (now.getTime() - then.getTime()) / 1000
  if (seconds < 45) return 'just now'
  if (seconds < HOUR) return `${Math.max(1, Math.round(seconds / MINUTE))} min ago`
  if (seconds < DAY) return `${Math.round(seconds / HOUR)} h ago`
  const yesterday = new Date(now)
  yesterday.setDate(now.getDate() - 1)
  return sameDay(then, yesterday) ? 'yesterday' : day(then, now)
}

/** 52 min left; null when nothing ends. */
export function left(until: string | null, now: Date): string | null {
  if (until === null) return null
  const seconds = (new Date(until).getTime() - now.getTime()) / 1000
  return seconds <= 0
    ? 'time is up'
    : `${duration(seconds < HOUR ? Math.ceil(seconds / MINUTE) * MINUTE : seconds)} left`
}

type Ending = {
  on_timeout: 'fail' | 'cancel' | 'escalate' | null
  escalate_to: readonly string[]
  escalated: boolean
}

/** What happens when the time is up: then fails. */
export function thenWords({ on_timeout, escalate_to, escalated }: Ending): string | null {
  switch (on_timeout) {
    case 'fail':
      return 'then it fails'
    case 'cancel':
      return 'then the run is cancelled'
    case 'escalate':
      if (escalated) return 'then it fails'
      return `then ${escalate_to.join(', ') || 'others'} may decide as well`
    default:
      return null
  }
}

export function day(then: Date, now: Date): string {
  const year = then.getFullYear() === now.getFullYear() ? undefined : 'numeric'
  return then.toLocaleDateString('en-GB', { day: 'numeric', month: 'short', year })
}

/** 14:07 today, 12 Nov 14:07 before. */
export function clock(instant: string, now: Date): string {
  const then = new Date(instant)
  const time = then.toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit' })
  return sameDay(then, now) ? time : `${day(then, now)}, ${time}`
}

/** 14:07:31 */
export function second(instant: string): string {
  return new Date(instant).toLocaleTimeString('en-GB')
}

/** The whole instant, for tooltips and tables. */
export function exact(instant: string): string {
  return new Date(instant).toLocaleString('en-GB', { dateStyle: 'medium', timeStyle: 'medium' })
}
