import type { Template } from '~/api/types'

/** What a template shows the use of. */
export const USE_LABELS: Record<Template['uses'][number], string> = {
  agents: 'Agents',
  scripts: 'Scripts',
  functions: 'Functions',
  people: 'People',
  actions: 'Actions',
}

/** Those that have all the words somewhere, and use what is asked for; '' is anything. */
export function filterTemplates(templates: readonly Template[], search: string, uses: string): Template[] {
  const terms = search.toLowerCase().split(/\s+/).filter(Boolean)
  return templates.filter((template) => {
    const text = [
      template.title,
      template.description,
      ...template.checkpoints.map(({ name }) => name),
      ...template.uses.map((use) => USE_LABELS[use]),
    ]
      .join(' ')
      .toLowerCase()
    return (
      terms.every((word) => text.includes(word)) && (uses === '' || template.uses.some((use) => use === uses))
    )
  })
}
