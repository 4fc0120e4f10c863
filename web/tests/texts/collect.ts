import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseSync } from 'vite'

/** A node of the syntax tree, as far as it is read here. */
type Node = { type: string; start: number; end: number } & Record<string, unknown>

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && typeof (value as Node).type === 'string'

const childrenOf = (node: Node): Node[] => Object.values(node).flat().filter(isNode)

/** Attributes and properties whose strings are shown or read aloud. */
const TEXT_NAMES = new Set(
  `alt aria-label aria-valuetext button cancelLabel children description detail done emptyText errorTitle error
  firstTitle hint label name note placeholder subject submitLabel text title verb word`.split(/\s+/),
)
/** Attributes, properties and calls whose strings nobody sees. */
const TECHNICAL_NAMES = new Set(
  `Accept Authorization autoComplete checkName className classNames color colour d data-asked fill fontFamily from
  format gridTemplateColumns headers href htmlFor icon id inputMode key kind lang level method mode order parse path
  queryKey rel role sandbox search secure size sort src srcDoc status stroke style tab target to tone transform type
  url value variant viewBox weight width`.split(/\s+/),
)
const SKIPPED_NAMES = new Set(['border', 'className', 'classNames', 'queryKey'])
const TECHNICAL_CALLS = new Set(
  `addEventListener assert createElement dispatchEvent draftKey endsWith getAttribute getElementById getItem
  getPropertyValue getRouteApi lazyRouteComponent GET POST PUT DELETE includes join lazy matchMedia parseFromString push querySelector
  querySelectorAll removeEventListener removeItem set setAttribute setItem split startsWith toLocaleDateString
  toLocaleString toLocaleTimeString useMediaQuery`.split(/\s+/),
)

const nameOf = (node: unknown): string => {
  if (!isNode(node)) return ''
  if (node.type === 'MemberExpression') return nameOf(node.property)
  if (node.type === 'Literal') return String(node.value)
  return String(node.name ?? '')
}

/** Whether a string outside of markup reads as words for people. */
const isProse = (text: string) =>
  /[A-Za-z]{2,}[,.:?!…]?\s|\s[A-Za-z]{2,}|^[A-Z][a-z]+/.test(text) && !/var\(--|minmax\(|^\//.test(text)

/** The words of a text alone: slots can hold other slots. */
function withoutSlots(text: string): string {
  const next = text.replace(/\{[^{}]*\}|<[A-Za-z]+>/g, '')
  return next === text ? next : withoutSlots(next)
}

const squeeze = (text: string) => text.replace(/\s+/g, ' ').trim()

class Collector {
  readonly texts: string[] = []
  constructor(private readonly source: string) {}

  private slot(node: Node): string {
    return `{${squeeze(this.source.slice(node.start, node.end))}}`
  }

  private add(text: string): void {
    const line = squeeze(text)
    if (/[A-Za-z]{2}|^[A-Z]$/.test(withoutSlots(line))) this.texts.push(line)
  }

  /** The string that a literal or template holds, with its expressions as slots. */
  private stringOf(node: Node): string | null {
    if (node.type === 'Literal') return typeof node.value === 'string' ? node.value : null
    if (node.type !== 'TemplateLiteral') return null
    const expressions = node.expressions as Node[]
    return (node.quasis as Node[])
      .map(({ value }, index) => {
        const expression = expressions[index]
        return (value as { cooked: string }).cooked + (expression === undefined ? '' : this.slot(expression))
      })
      .join('')
  }

  /** `shown` is true where every string reaches the page, also a single lower-case word. */
  visit(node: Node, shown: boolean): void {
    const text = this.stringOf(node)
    if (text !== null) {
      if (shown || isProse(text)) this.add(text)
      if (node.type === 'TemplateLiteral')
        for (const each of node.expressions as Node[]) this.visit(each, shown)
      return
    }
    switch (node.type) {
      case 'ImportDeclaration':
      case 'ExportAllDeclaration':
      case 'TSTypeAliasDeclaration':
      case 'TSTypeAnnotation':
      case 'TSTypeParameterInstantiation':
        return
      case 'JSXElement':
      case 'JSXFragment':
        this.element(node)
        return
      case 'JSXAttribute':
        this.named(nameOf(node.name), node.value, shown)
        return
      case 'Property':
        this.named(node.computed === true ? '' : nameOf(node.key), node.value, shown)
        return
      case 'BinaryExpression':
        if (node.operator === '+') break
        for (const side of [node.left, node.right]) if (isNode(side)) this.comparison(side)
        return
      case 'SwitchCase':
        for (const statement of node.consequent as Node[]) this.visit(statement, shown)
        return
      case 'ConditionalExpression':
        this.visit(node.test as Node, false)
        this.visit(node.consequent as Node, shown)
        this.visit(node.alternate as Node, shown)
        return
      case 'LogicalExpression':
        this.visit(node.left as Node, node.operator === '&&' ? false : shown)
        this.visit(node.right as Node, shown)
        return
      case 'MemberExpression':
        this.visit(node.object as Node, false)
        return
      case 'CallExpression':
      case 'NewExpression':
        this.call(node, shown)
        return
      case 'VariableDeclarator':
        if (isNode(node.init)) this.visit(node.init, this.isTextMap(node))
        return
      case 'FunctionDeclaration':
      case 'ArrowFunctionExpression':
      case 'FunctionExpression':
        this.body(node, shown)
        return
    }
    for (const child of childrenOf(node))
      this.visit(child, node.type === 'ReturnStatement' ? shown : shown && isWrapper(node))
  }

  /** A component whose name and children make one sentence. */
  private element(node: Node): void {
    const opening = node.openingElement
    if (isNode(opening)) for (const attribute of opening.attributes as Node[]) this.visit(attribute, false)
    const children = node.children as Node[]
    const isInline = (child: Node) =>
      child.type === 'JSXElement' && ['code', 'strong', 'Time', 'em', 'Link'].includes(this.tagOf(child))
    const words = children.map((child) => {
      if (child.type === 'JSXText') return String(child.value)
      if (child.type === 'JSXExpressionContainer') {
        const expression = child.expression as Node
        const text = this.stringOf(expression)
        return text ?? (expression.type === 'JSXEmptyExpression' ? '' : '{…}')
      }
      return isInline(child) ? `<${this.tagOf(child)}>` : ''
    })
    this.add(words.join(''))
    for (const child of children) {
      if (child.type === 'JSXExpressionContainer') {
        const expression = child.expression as Node
        if (this.stringOf(expression) === null) this.visit(expression, true)
      } else if (child.type !== 'JSXText') this.visit(child, true)
    }
  }

  private tagOf(node: Node): string {
    return isNode(node.openingElement) ? nameOf(node.openingElement.name) : ''
  }

  private named(name: string, value: unknown, shown: boolean): void {
    if (!isNode(value) || SKIPPED_NAMES.has(name)) return
    if (TEXT_NAMES.has(name)) this.visit(value, true)
    else if (TECHNICAL_NAMES.has(name) || name.startsWith('data-')) {
      if (!this.isString(value)) this.visit(value, false)
    } else this.visit(value, shown && value.type !== 'JSXExpressionContainer')
  }

  private isString = (node: Node) =>
    this.stringOf(node) !== null ||
    (node.type === 'ArrayExpression' && childrenOf(node).every((one) => this.stringOf(one) !== null))

  private comparison(side: Node): void {
    if (this.stringOf(side) === null) this.visit(side, false)
  }

  private call(node: Node, shown: boolean): void {
    const callee = node.callee as Node
    this.visit(callee, false)
    const isTechnical = TECHNICAL_CALLS.has(nameOf(callee))
    for (const argument of node.arguments as Node[]) {
      if (isTechnical && this.isString(argument)) continue
      this.visit(argument, shown && !isTechnical)
    }
  }

  /** A table of labels, such as `Record<Role, string>`. */
  private isTextMap(node: Node): boolean {
    const annotation = isNode(node.id) ? node.id.typeAnnotation : null
    return (
      isNode(annotation) && /Record<.*, string>/s.test(this.source.slice(annotation.start, annotation.end))
    )
  }

  /** What a function returns is shown where its type says that it is a text. */
  private body(node: Node, shown: boolean): void {
    const { returnType } = node
    const type = isNode(returnType) ? this.source.slice(returnType.start, returnType.end) : ''
    const isText = /^: (string|readonly string\[\]|string\[\])( \| (null|undefined))?$/.test(type)
    const isArrow = isNode(node.body) && node.body.type !== 'BlockStatement'
    if (isNode(node.body)) this.visit(node.body, isText || (isArrow && shown))
  }
}

/** Nodes that hand their strings on to where they stand. */
const isWrapper = ({ type }: Node) =>
  [
    'ArrayExpression',
    'ObjectExpression',
    'ParenthesizedExpression',
    'TSAsExpression',
    'TSSatisfiesExpression',
    'BlockStatement',
    'IfStatement',
    'SwitchStatement',
    'JSXExpressionContainer',
    'SpreadElement',
    'TryStatement',
  ].includes(type)

/** All texts of the app, file by file, as people see or hear them. */
export function collectTexts(root: string): string {
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.tsx?$/.test(name) && !name.endsWith('schema.d.ts'))
    .sort()
  return files
    .map((name) => {
      const source = readFileSync(join(root, name), 'utf8')
      const collector = new Collector(source)
      collector.visit(parseSync(name, source).program as unknown as Node, false)
      const texts = [...new Set(collector.texts)]
      return texts.length === 0 ? '' : `## ${name}\n\n${texts.map((text) => `${text}\n`).join('')}`
    })
    .filter((part) => part !== '')
    .join('\n')
}
