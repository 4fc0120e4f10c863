import { describe, expect, it } from 'vitest'
import { escapeTags, withExplicitSize } from '~/features/artifacts/mermaid'

describe('Mermaid diagrams', () => {
  it.each([
    ['a["<img src=x onerror=y>"]', 'a["#lt;img src=x onerror=y>"]'],
    ['a["one<br/>two</b>"]', 'a["one<br/>two#lt;/b>"]'],
    ['a <--> b', 'a <--> b'],
    ['A <|-- B', 'A <|-- B'],
    ['class A { <<interface>> }', 'class A { <<interface>> }'],
  ])('%s has no tags but breaks', (source, text) => expect(escapeTags(source)).toBe(text))

  it('have an explicit size', () => {
    const image = withExplicitSize(
      '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 20.5 10" width="100%"></svg>',
    )
    expect(image).toContain('width="21"')
    expect(image).toContain('height="10"')
    expect(() => withExplicitSize('<p>none</p>')).toThrow('empty')
  })
})
