/** The label of a decision and the dialog that asks for its text. */
export type DecisionOption = {
  label: string
  /** The dialog that asks for a text. Without it, the decision is submitted immediately. */
  dialog?: { title: string; field: 'feedback' | 'reason'; label: string; hint: string; button: string }
  weight: 'primary' | 'plain' | 'danger'
  key?: string
  done: string
}

const DECISIONS: Record<string, DecisionOption> = {
  approve: { label: 'Approve', weight: 'primary', key: 'A', done: 'Approved.' },
  modify: { label: 'Modify', weight: 'plain', key: 'M', done: 'Approved with your changes.' },
  accept: { label: 'Accept result', weight: 'primary', key: 'A', done: 'Result accepted.' },
  retry: { label: 'Retry', weight: 'primary', key: 'A', done: 'Retrying.' },
  restart: { label: 'Restart from the first checkpoint', weight: 'plain', done: 'New pass started.' },
  revise: {
    label: 'Request revision',
    weight: 'plain',
    key: 'V',
    done: 'Revision requested.',
    dialog: {
      title: 'Request revision',
      field: 'feedback',
      label: 'What should change',
      hint: 'The same execution continues with your feedback.',
      button: 'Request revision',
    },
  },
  feedback: {
    label: 'Give feedback',
    weight: 'plain',
    key: 'V',
    done: 'Feedback sent.',
    dialog: {
      title: 'Give feedback on the result',
      field: 'feedback',
      label: 'Feedback',
      hint: 'The next attempt receives your feedback.',
      button: 'Send feedback',
    },
  },
  reject: {
    label: 'Reject',
    weight: 'danger',
    key: 'R',
    done: 'Rejected. The run failed with your reason.',
    dialog: {
      title: 'Reject and fail the run',
      field: 'reason',
      label: 'Reason',
      hint: 'The execution and the run fail with this reason. It is recorded in the events.',
      button: 'Reject and fail run',
    },
  },
  fail: {
    label: 'Fail execution',
    weight: 'danger',
    key: 'R',
    done: 'Execution failed.',
    dialog: {
      title: 'Fail the execution',
      field: 'reason',
      label: 'Reason',
      hint: 'Recorded in the events.',
      button: 'Fail execution',
    },
  },
  happened: { label: 'It happened', weight: 'plain', done: 'Recorded: it happened.' },
  did_not_happen: { label: "It didn't happen", weight: 'plain', done: "Recorded: it didn't happen." },
  send_again: { label: 'Send again', weight: 'plain', done: 'The action is sent again.' },
  give_up: {
    label: 'Give up',
    weight: 'danger',
    done: 'The outcome stays unknown.',
    dialog: {
      title: 'Give up on this action',
      field: 'reason',
      label: 'Reason',
      hint: 'The outcome stays unknown, and the execution fails.',
      button: 'Give up',
    },
  },
  refuse: {
    label: 'Not now',
    weight: 'plain',
    key: 'R',
    done: 'Start postponed. You can start it later.',
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
      hint: 'The checkpoint fails as its definition specifies. Your reason is recorded in the events.',
      button: 'Decline to answer',
    },
  },
}

const ORDER = [
  'give_up',
  'send_again',
  'did_not_happen',
  'happened',
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

/** The decisions shown in the bar, most destructive first. Only the last primary one keeps its weight. */
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
