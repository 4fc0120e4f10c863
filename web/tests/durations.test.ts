import { describe, expect, it } from 'vitest'
import { formatDuration, formatEstimate, formatTime, timeAgo, timeLeft } from '~/lib/durations'

const NOW = new Date(2026, 2, 12, 15, 0, 0)
const earlier = (seconds: number) => new Date(NOW.getTime() - seconds * 1000).toISOString()

describe('formatDuration', () => {
  it.each([
    [0, '0 s'],
    [0.4, '< 1 s'],
    [41.2, '41 s'],
    [59.6, '1 min'],
    [60, '1 min'],
    [192, '3 min 12 s'],
    [3600, '1 h'],
    [18_600, '5 h 10 min'],
    [86_400, '1 day'],
    [200_000, '2 days 7 h'],
    [-5, '0 s'],
  ])('%d s is %s', (seconds, words) => expect(formatDuration(seconds)).toBe(words))
})

describe('formatEstimate', () => {
  it.each([
    [20, 'less than a minute'],
    [130, 'about 2 min'],
    [7000, 'about 2 h'],
    [86_400, 'about 1 day'],
    [260_000, 'about 3 days'],
  ])('%d s is %s', (seconds, words) => expect(formatEstimate(seconds)).toBe(words))
})

describe('timeAgo', () => {
  it.each([
    [10, 'just now'],
    [300, '5 min ago'],
    [7200, '2 h ago'],
    [90_000, 'yesterday'],
    [86_400 * 4, '8 Mar'],
    [86_400 * 400, '5 Feb 2025'],
  ])('%d s before is %s', (seconds, words) => expect(timeAgo(earlier(seconds), NOW)).toBe(words))
})

describe('timeLeft', () => {
  it('is null without a deadline', () => expect(timeLeft(null, NOW)).toBeNull())
  it('rounds minutes up', () => expect(timeLeft(earlier(-51.2 * 60), NOW)).toBe('52 min left'))
  it('shows that the deadline has passed', () => expect(timeLeft(earlier(1), NOW)).toBe('overdue'))
})

describe('formatTime', () => {
  it('shows only the time today', () => expect(formatTime(earlier(60), NOW)).toBe('14:59'))
  it('shows the date on other days', () => expect(formatTime(earlier(86_400), NOW)).toBe('11 Mar, 15:00'))
})
