import { Button } from '@mantine/core'
import { asProblem } from '~/lib/problems'
import { Notice } from './Notice'

/** A page or list that could not be read: what, why, and the way on. */
export function Failure({ what, error, retry }: { what: string; error: unknown; retry?: () => void }) {
  const problem = asProblem(error)
  return (
    <Notice tone="red" title={what} actions={retry && <Button onClick={retry}>Try again</Button>}>
      {problem.detail}
    </Notice>
  )
}

/** Why something was refused, with every place that the server named. */
export function Refusal({ title, error }: { title: string; error: unknown }) {
  const problem = asProblem(error)
  const places = problem.errors.filter((fault) => fault.message !== '')
  return (
    <Notice tone={problem.status === 409 || problem.status === 412 ? 'ochre' : 'red'} title={title}>
      {problem.detail}
      {places.length > 0 && (
        <ul>
          {places.map((fault) => (
            <li key={`${fault.path}${fault.message}`}>
              {fault.path !== '' && <code>{fault.path}</code>} {fault.message}
            </li>
          ))}
        </ul>
      )}
    </Notice>
  )
}
