import { Button } from '@mantine/core'
import { asProblem } from '~/lib/problems'
import { Notice } from './Notice'

/** A page or list that could not be read: what, why, and the way on. */
export function LoadError({ title, error, retry }: { title: string; error: unknown; retry?: () => void }) {
  const problem = asProblem(error)
  return (
    <Notice tone="red" title={title} actions={retry && <Button onClick={retry}>Try again</Button>}>
      {problem.detail}
    </Notice>
  )
}

/** Why something was refused, with every place that the server named. */
export function ProblemNotice({ title, error }: { title: string; error: unknown }) {
  const problem = asProblem(error)
  const errors = problem.errors.filter((item) => item.message !== '')
  return (
    <Notice tone={problem.status === 409 || problem.status === 412 ? 'ochre' : 'red'} title={title}>
      {problem.detail}
      {errors.length > 0 && (
        <ul>
          {errors.map((item) => (
            <li key={`${item.path}${item.message}`}>
              {item.path !== '' && <code>{item.path}</code>} {item.message}
            </li>
          ))}
        </ul>
      )}
    </Notice>
  )
}
