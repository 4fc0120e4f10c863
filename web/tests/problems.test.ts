import { describe, expect, it } from 'vitest'
import { asProblem, errorsByField, isStale, Problem, problemOf, unreachableProblem } from '~/lib/problems'

describe('problemOf', () => {
  it("keeps the server's error", () => {
    const problem = problemOf(409, {
      title: 'Conflict',
      detail: 'The run is completed.',
      errors: [{ path: '/a', message: 'wrong', line: 3 }, 'nonsense'],
      suggestions: ['roll back', 7],
    })
    expect({ ...problem }).toEqual({
      name: 'Problem',
      status: 409,
      title: 'Conflict',
      detail: 'The run is completed.',
      errors: [{ path: '/a', message: 'wrong', line: 3, column: null }],
      suggestions: ['roll back'],
    })
    expect(problem.message).toBe('The run is completed.')
  })
  it.each([
    [404, 'Not found. It may have been deleted.'],
    [412, 'Someone else changed this in the meantime.'],
    [500, 'Internal error. See the server log for details.'],
    [418, 'The request was rejected.'],
  ])('finds words for a bare %d', (status, words) => expect(problemOf(status, undefined).detail).toBe(words))
})

describe('isStale', () => {
  it('is true for conflicting changes', () => {
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
  it('wraps any error', () => {
    expect(asProblem(new TypeError('x is undefined')).detail).toBe('x is undefined')
    expect(asProblem('odd').detail).toBe('odd')
    const problem = unreachableProblem()
    expect(asProblem(problem)).toBe(problem)
  })
})

describe('errorsByField', () => {
  it('assigns the first error to each field', () => {
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
