/** Finds the token in what a person pasted: the whole start link, its fragment, or the token alone. */
export function tokenIn(pasted: string): string | null {
  const text = pasted.trim()
  const found = /(?:^|[#?&])token=([^&\s]+)/.exec(text)
  if (found?.[1] !== undefined) {
    try {
      return decodeURIComponent(found[1])
    } catch {
      return found[1]
    }
  }
  return text === '' || /[\s/]/.test(text) ? null : text
}
