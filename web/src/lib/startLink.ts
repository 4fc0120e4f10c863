/** Extracts the token from a start link, its fragment or the token alone. */
export function extractToken(pasted: string): string | null {
  const text = pasted.trim()
  const match = /(?:^|[#?&])token=([^&\s]+)/.exec(text)
  if (match?.[1] !== undefined) {
    try {
      return decodeURIComponent(match[1])
    } catch {
      return match[1]
    }
  }
  return text === '' || /[\s/]/.test(text) ? null : text
}
