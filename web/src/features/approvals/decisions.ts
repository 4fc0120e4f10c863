/** What each decision is called, and the words it asks for. */
export type DecisionOption = {
  label: string
  /** The dialog that asks for words; without one the decision is taken at once. */
  dialog?: { title: string; field: 'feedback' | 'reason'; label: string; hint: string; button: string }
  weight: 'primary' | 'plain' | 'danger'
  key?: string
  done: string
}

const DECISIONS: Record<string, DecisionOption> = {
  approve: { label: 'Approve', weight: 'primary', key: 'A', done: 'Approved.' },
  modify: { label: 'Modify', weight: 'plain', key: 'M', done: 'Approved with your changes.' },
  accept: { label: 'Accept the result', weight: 'primary', key: 'A', done: 'Accepted.' },
  retry: { label: 'Try again', weight: 'primary', key: 'A', done: 'It tries again.' },
  restart: { label: 'Restart from the first checkpoint', weight: 'plain', done: 'A new pass begins.' },
  revise: {
    label: 'Request revision',
    weight: 'plain',
    key: 'V',
    done: 'Sent back with your feedback.',
    dialog: {
      title: 'Request a revision',
      field: 'feedback',
      label: 'What should change',
      hint: 'Whoever does the work sees these words. The same execution goes on with them.',
      button: 'Request revision',
    },
  },
  feedback: {
    label: 'Give feedback',
    weight: 'plain',
    key: 'V',
    done: 'Sent back with your feedback.',
    dialog: {
      title: 'Say what is wrong with the result',
      field: 'feedback',
      label: 'Feedback',
      hint: 'The next attempt sees these words.',
      button: 'Send feedback',
    },
  },
  reject: {
    label: 'Reject',
    weight: 'danger',
    key: 'R',
    done: 'Rejected. The run has failed with your reason.',
    dialog: {
      title: 'Reject and end the run',
      field: 'reason',
      label: 'Reason',
      hint: 'The execution and the run fail with this reason. Kept in the event record.',
      button: 'Reject, fail the run',
    },
  },
  fail: {
    label: 'Let it fail',
    weight: 'danger',
    key: 'R',
    done: 'It has failed.',
    dialog: {
      title: 'Let the execution fail',
      field: 'reason',
      label: 'Reason',
      hint: 'Kept in the event record.',
      button: 'Let it fail',
    },
  },
  refuse: {
    label: 'Not now',
    weight: 'plain',
    key: 'R',
    done: 'Put back. It can be started later.',
  },
  decline: {
    label: 'Decline',
    weight: 'danger',
    key: 'R',
    done: 'Declined.',
    dialog: {
      title: 'Decline to answer',
      field: 'reason',
      label: 'Reason',
      hint: 'The checkpoint fails as its definition says. Kept in the event record.',
      button: 'Decline to answer',
    },
  },
}

const ORDER = [
  'fail',
  'reject',
  'decline',
  'refuse',
  'restart',
  'revise',
  'feedback',
  'modify',
  'retry',
  'accept',
  'approve',
]

/** The decisions that can be taken from the bar, least final last. Only the last that is primary keeps its weight. */
export function decisionOptions(possible: readonly string[]): [string, DecisionOption][] {
  const options = ORDER.filter((name) => possible.includes(name)).flatMap((name) => {
    const option = DECISIONS[name]
    return option === undefined ? [] : [[name, option] as [string, DecisionOption]]
  })
  const last = options.findLast(([, option]) => option.weight === 'primary')?.[0]
  return options.map(([name, option]) =>
    option.weight === 'primary' && name !== last
      ? [name, { ...option, weight: 'plain', key: undefined }]
      : [name, option],
  )
}
