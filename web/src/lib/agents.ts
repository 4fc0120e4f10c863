import type { LibraryAgent } from '~/api/types'

/** Whether an agent is built in or custom. */
export function originLabel(
  agent: Pick<LibraryAgent, 'is_builtin' | 'overrides_builtin' | 'revision'>,
): string {
  if (agent.is_builtin) return 'built in'
  return agent.overrides_builtin ? 'custom, replaces the built-in agent' : 'custom'
}

/** The agent name in a YAML text. */
export function agentNameIn(text: string): string | null {
  const [, quoted, plain] = /^name:[ \t]*(?:["']([^"'\n]+)["']|([^\s#"'][^#\n]*))/m.exec(text) ?? []
  return (quoted ?? plain ?? '').trim() || null
}

export function toolsLabel(tools: readonly string[] | null): string {
  if (tools === null) return 'from the checkpoint'
  return tools.length === 0 ? 'none' : tools.join(', ')
}

/** An example for a new agent. */
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
