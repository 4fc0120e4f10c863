type Colours = Record<'surface' | 'sunken' | 'line' | 'text' | 'quiet', string>

let queue: Promise<unknown> = Promise.resolve()
let renderCount = 0

/** Renders a Mermaid diagram as SVG, and throws if the source is invalid. Renders one at a time, because Mermaid has one global configuration. */
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
    // Diagrams can't override these settings.
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
    // An image can't use the fonts of the page, so it is measured with a system font.
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

/** Escapes tags in labels except line breaks, because measuring them would create elements. */
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

/** Sets the size of the image to that of the diagram. */
export function withExplicitSize(svg: string): string {
  // The SVG is not always well-formed, so it is parsed and serialized again.
  const drawing = new DOMParser().parseFromString(svg, 'text/html').querySelector('svg')
  const [, , width, height] = (drawing?.getAttribute('viewBox') ?? '').split(/[\s,]+/).map(Number)
  if (drawing === null || !(Number(width) > 0 && Number(height) > 0)) throw new Error('The diagram is empty.')
  drawing.setAttribute('width', String(Math.ceil(Number(width))))
  drawing.setAttribute('height', String(Math.ceil(Number(height))))
  return new XMLSerializer().serializeToString(drawing)
}
