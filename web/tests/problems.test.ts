import { describe, expect, it } from 'vitest'
import { asProblem, errorsByField, isStale, Problem, problemOf, unreachableProblem } from '~/lib/problems'

describe('problemOf', () => {
  it('keeps what the server said', () => {
    const problem = problemOf(409, {
      title: 'Conflict',
      detail: 'The run is completed.',
      errors: [{ path: '/a', message: 'wrong', line: 3 }, 'nonsense'],
      possible: ['roll back', 7],
    })
    expect({ ...problem }).toEqual({
      name: 'Problem',
      status: 409,
      title: 'Conflict',
      detail: 'The run is completed.',
      errors: [{ path: '/a', message: 'wrong', line: 3, column: null }],
      possible: ['roll back'],
    })
    expect(problem.message).toBe('The run is completed.')
  })
  it.each([
    [404, 'This does not exist, or no longer does.'],
    [412, 'Somebody changed this in the meantime.'],
    [500, 'The server failed. Its log says why.'],
    [418, 'This was refused.'],
  ])('finds words for a bare %d', (status, words) => expect(problemOf(status, undefined).detail).toBe(words))
})

describe('isStale', () => {
  it('is for what another one changed first', () => {
    expect([409, 412, 422, 500].map((status) => isStale(problemOf(status, {})))).toEqual([
      true,
      true,
      false,
      false,
    ])
    expect(isStale(unreachableProblem())).toBe(false)
  })
})

describe('asProblem', () => {
  it('gives any failure words', () => {
    expect(asProblem(new TypeError('x is undefined')).detail).toBe('x is undefined')
    expect(asProblem('odd').detail).toBe('odd')
    const problem = unreachableProblem()
    expect(asProblem(problem)).toBe(problem)
  })
})

describe('faultsByField', () => {
  it('puts each fault at its field, the first one wins', () => {
    const problem = new Problem(422, 't', 'd', [
      { path: '/fields/volume', message: 'too small' },
      { path: 'fields.volume', message: 'odd' },
      { path: '/fields/name', message: 'missing' },
      { path: '', message: 'general' },
    ])
    expect(errorsByField(problem, ['name', 'volume', 'notes'])).toEqual({
      volume: 'too small',
      name: 'missing',
    })
  })
})
