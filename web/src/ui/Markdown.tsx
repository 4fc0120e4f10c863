import ReactMarkdown from 'react-markdown'
import rehypeSanitize from 'rehype-sanitize'
import remarkGfm from 'remark-gfm'
import styles from './Markdown.module.css'

/** Untrusted Markdown: no HTML, no external images, and links without referrer or opener. */
export default function Markdown({ children }: { children: string }) {
  return (
    <div className={styles.markdown}>
      <ReactMarkdown
        remarkPlugins={[remarkGfm]}
        rehypePlugins={[rehypeSanitize]}
        components={{
          // The page has its own h1, so headings of the document start below it.
          h1: ({ children: words }) => <h3 data-level="1">{words}</h3>,
          h2: ({ children: words }) => <h4>{words}</h4>,
          h3: ({ children: words }) => <h5>{words}</h5>,
          h4: ({ children: words }) => <h6>{words}</h6>,
          img: ({ alt, src }) => <span className={styles.image}>Image: {alt || src}</span>,
          a: ({ children: words, href }) => (
            <a href={href} target="_blank" rel="noopener noreferrer nofollow">
              {words}
            </a>
          ),
          pre: ({ children: text }) => (
            // biome-ignore lint/a11y/noNoninteractiveTabindex: long lines are scrolled with the keyboard too.
            <pre tabIndex={0}>{text}</pre>
          ),
          // An empty column heading is not announced as a heading.
          th: ({ children: words, style }) =>
            words === undefined ? <td style={style} /> : <th style={style}>{words}</th>,
          table: ({ children: rows }) => (
            // biome-ignore lint/a11y/noNoninteractiveTabindex: a wide table is scrolled with the keyboard too.
            <section className={styles.wide} tabIndex={0} aria-label="Table">
              <table>{rows}</table>
            </section>
          ),
        }}
      >
        {children}
      </ReactMarkdown>
    </div>
  )
}
