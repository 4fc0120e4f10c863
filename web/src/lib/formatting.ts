/** 512 B, 1.4 kB, 3.0 MB. */
export function formatBytes(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`
  const units = ['kB', 'MB', 'GB', 'TB']
  let value = bytes
  let unit = ''
  for (const next of units) {
    if (value < 999.5) break
    value /= 1000
    unit = next
  }
  return `${value < 99.95 ? value.toFixed(1) : Math.round(value)} ${unit}`
}

/** 1 artifact, 2 artifacts. */
export function pluralize(number: number, one: string, many = `${one}s`): string {
  return `${number} ${number === 1 ? one : many}`
}

/** The first and last four characters of a digest. */
export function shortDigest(digest: string): string {
  return digest.length <= 12 ? digest : `${digest.slice(0, 4)}…${digest.slice(-4)}`
}

/** The first eight characters of an id. */
export function shortId(id: string): string {
  return id.slice(0, 8)
}

/** Alex Chen → AC. */
export function initials(name: string): string {
  const parts = name.split(/[\s@._-]+/).filter(Boolean)
  const [first, last] = [parts[0] ?? '?', parts.length > 1 ? (parts.at(-1) ?? '') : '']
  return (first.slice(0, 1) + last.slice(0, 1)).toUpperCase()
}

/** 51 users, or 50+ users if there are more. */
export function pluralizeAtLeast(amount: number, more: boolean, noun: string): string {
  return more ? `${amount}+ ${noun}s` : pluralize(amount, noun)
}
