type Colours = Record<'surface' | 'sunken' | 'line' | 'text' | 'quiet', string>

let queue: Promise<unknown> = Promise.resolve()
let renderCount = 0

/** A Mermaid diagram as an SVG image; it throws what is wrong with the source. One at a time: it has one configuration. */
export function renderDiagram(source: string, isDark: boolean): Promise<string> {
  const next = queue.then(
    () => renderNow(source, isDark),
    () => renderNow(source, isDark),
  )
  queue = next
  return next
}

async function renderNow(source: string, isDark: boolean): Promise<string> {
  const { default: mermaid } = await import('mermaid')
  const colours = pageColours()
  mermaid.initialize({
    startOnLoad: false,
    securityLevel: 'strict',
    // Nothing of these can be said by a diagram itself.
    secure: [
      'secure',
      'securityLevel',
      'startOnLoad',
      'maxTextSize',
      'maxEdges',
      'suppressErrorRendering',
      'htmlLabels',
      'themeCSS',
      'fontFamily',
      'altFontFamily',
      'dompurifyConfig',
    ],
    suppressErrorRendering: true,
    htmlLabels: false,
    flowchart: { htmlLabels: false },
    // An image has no fonts of the page: it is measured with what it will be drawn with.
    fontFamily: 'system-ui, sans-serif',
    theme: 'base',
    themeVariables: {
      darkMode: isDark,
      background: colours.surface,
      primaryColor: colours.sunken,
      primaryTextColor: colours.text,
      primaryBorderColor: colours.line,
      secondaryColor: colours.surface,
      tertiaryColor: colours.surface,
      lineColor: colours.quiet,
      textColor: colours.text,
      dropShadow: 'none',
      useGradient: false,
    },
  })
  const text = escapeTags(source)
  await mermaid.parse(text)
  renderCount += 1
  const { svg } = await mermaid.render(`drawing-${renderCount}`, text)
  return withExplicitSize(svg)
}

/** Tags in labels are text, but for breaks of lines: whoever measures them would make elements of them. */
export function escapeTags(source: string): string {
  return source.replace(/(?<!<)<(?!br\b)(?=[a-z/!])/gi, '#lt;')
}

function pageColours(): Colours {
  const style = getComputedStyle(document.documentElement)
  const of = (name: string) => style.getPropertyValue(name).trim()
  return {
    surface: of('--surface'),
    sunken: of('--sunken'),
    line: of('--input-line'),
    text: of('--tx'),
    quiet: of('--tx2'),
  }
}

/** An image has a size of its own: that of what is drawn. */
export function withExplicitSize(svg: string): string {
  // It is not always well-formed; written out again it is.
  const drawing = new DOMParser().parseFromString(svg, 'text/html').querySelector('svg')
  const [, , width, height] = (drawing?.getAttribute('viewBox') ?? '').split(/[\s,]+/).map(Number)
  if (drawing === null || !(Number(width) > 0 && Number(height) > 0)) throw new Error('The diagram is empty.')
  drawing.setAttribute('width', String(Math.ceil(Number(width))))
  drawing.setAttribute('height', String(Math.ceil(Number(height))))
  return new XMLSerializer().serializeToString(drawing)
}
