import type { LibraryAgent } from '~/api/types'

/** Whose it is: one as it came, one of people's own, or one of their own that stands before one that came. */
export function originLabel(
  agent: Pick<LibraryAgent, 'is_ready_made' | 'replaces_ready_made' | 'revision'>,
): string {
  if (agent.is_ready_made) return 'built in'
  return agent.replaces_ready_made ? 'custom, replaces the built-in agent' : 'custom'
}

/** The name that a text gives its agent, if it says one. */
export function agentNameIn(text: string): string | null {
  const [, quoted, plain] = /^name:[ \t]*(?:["']([^"'\n]+)["']|([^\s#"'][^#\n]*))/m.exec(text) ?? []
  return (quoted ?? plain ?? '').trim() || null
}

export function toolsLabel(tools: readonly string[] | null): string {
  if (tools === null) return 'from the checkpoint'
  return tools.length === 0 ? 'none' : tools.join(', ')
}

/** What an agent of one's own may begin with. */
export const EXAMPLE_AGENT = `name: fact-checker
title: Fact checker
description: Checks a text against its sources.
role: You verify every claim against the sources.
task_prompt: List every claim in the text and whether the sources support it.
tools: [file_operations]
output_schema:
  type: object
  required: [claims]
  properties:
    claims: { type: array, items: { type: string } }
`
