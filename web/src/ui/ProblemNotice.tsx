import { Button } from '@mantine/core'
import { asProblem } from '~/lib/problems'
import { Notice } from './Notice'

/** Shown when a page or list can't be loaded. */
export function LoadError({ title, error, retry }: { title: string; error: unknown; retry?: () => void }) {
  const problem = asProblem(error)
  return (
    <Notice tone="red" title={title} actions={retry && <Button onClick={retry}>Try again</Button>}>
      {problem.detail}
    </Notice>
  )
}

/** Explains a failed request, with all errors that the server reported. */
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
              {item.line != null && `Line ${item.line}: `}
              {item.path !== '' && <code>{item.path}</code>} {item.message}
            </li>
          ))}
        </ul>
      )}
    </Notice>
  )
}
