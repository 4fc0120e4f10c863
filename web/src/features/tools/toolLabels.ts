import type { Tool, ToolEffect } from '~/api/types'

export const STATE_LABELS: Record<Tool['state'], string> = {
  new: 'New',
  listed: 'Listed',
  changed: 'Changed',
  unseen: 'Not started yet',
}

export const EFFECT_LABELS: Record<ToolEffect, string> = {
  reads: 'Reads',
  sends: 'Sends',
  changes: 'Changes',
}
