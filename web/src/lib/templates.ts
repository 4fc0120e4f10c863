import type { Template } from '~/api/types'

/** Labels for the features that a template uses. */
export const USE_LABELS: Record<Template['uses'][number], string> = {
  agents: 'Agents',
  scripts: 'Scripts',
  functions: 'Functions',
  people: 'People',
  actions: 'Actions',
}

/** Templates that contain all search terms and use a feature. An empty feature matches all. */
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
