import { MantineProvider } from '@mantine/core'
import { Notifications } from '@mantine/notifications'
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { session } from '~/api/queries'
import { SessionGate } from '~/features/sign_in/SessionGate'
import { Problem } from '~/lib/problems'
import { schemeManager } from '~/ui/colorScheme'
import { theme } from '~/ui/theme'
import { router } from './router'

const client = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 2000,
      retry: (count, error) =>
        count < 2 && error instanceof Problem && (error.status === 0 || error.status >= 502),
    },
  },
})

// When the session has ended, show the sign-in page and keep the address.
client.getQueryCache().subscribe((change) => {
  if (change.type !== 'updated' || change.action.type !== 'error') return
  const { error } = change.action
  if (error instanceof Problem && error.status === 401 && change.query.queryKey[0] !== 'session') {
    void client.resetQueries({ queryKey: session().queryKey })
  }
})

export function App() {
  return (
    <MantineProvider theme={theme} defaultColorScheme="auto" colorSchemeManager={schemeManager}>
      <QueryClientProvider client={client}>
        <Notifications position="bottom-right" containerWidth={380} className="toasts" zIndex={400} />
        <SessionGate>
          <RouterProvider router={router} />
        </SessionGate>
      </QueryClientProvider>
    </MantineProvider>
  )
}
