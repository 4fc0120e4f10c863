import { QueryClient, QueryObserver } from '@tanstack/react-query'
import { expect, test } from 'vitest'
import { refetch } from '~/api/refetch'

/** A page that shows one thing; each reading of it is answered when the test says so. */
function page() {
  const client = new QueryClient({ defaultOptions: { queries: { retry: false } } })
  const asked: ((value: string) => void)[] = []
  const observer = new QueryObserver(client, {
    queryKey: ['rules', 'stop'],
    queryFn: () => new Promise<string>((answer) => asked.push(answer)),
  })
  const leave = observer.subscribe(() => {})
  return { client, asked, leave, shown: () => observer.getCurrentResult().data }
}

const soon = () => new Promise((go) => setTimeout(go, 5))

test('a change during the first load is not missed', async () => {
  const { client, asked, leave, shown } = page()
  expect(asked).toHaveLength(1)
  const renewed = refetch(client, ['rules'])
  asked[0]?.('as it was before')
  await soon()
  expect(asked).toHaveLength(2)
  asked[1]?.('as it is')
  await renewed
  expect(shown()).toBe('as it is')
  leave()
})

test('loaded data is refetched once', async () => {
  const { client, asked, leave, shown } = page()
  asked[0]?.('first')
  await soon()
  const renewed = refetch(client, ['rules'])
  await soon()
  asked[1]?.('second')
  await renewed
  await soon()
  expect(asked).toHaveLength(2)
  expect(shown()).toBe('second')
  leave()
})

test('inactive queries are not refetched', async () => {
  const { client, asked, leave } = page()
  const renewed = refetch(client, ['rules'])
  leave()
  asked[0]?.('first')
  await renewed
  expect(asked).toHaveLength(1)
})

test('other queries are not refetched', async () => {
  const { client, asked, leave } = page()
  asked[0]?.('first')
  await soon()
  await refetch(client, ['runs'])
  expect(asked).toHaveLength(1)
  leave()
})
