import { useQueryClient } from '@tanstack/react-query'
import { endSessions, invite, removeUser, restoreUser } from '~/api/identity'
import { pluralize } from '~/lib/formatting'
import { FormDialog } from '~/ui/FormDialog'
import { showToast } from '~/ui/toasts'
import type { UserAction } from './UserMenu'

type Props = { action: UserAction | null; onClose: () => void; onLink: (link: string) => void }

/** What is done about a user, each said before it is done. */
export function UserActionDialogs({ action, onClose, onLink }: Props) {
  const client = useQueryClient()
  if (action === null || action.kind === 'change') return null
  const { kind, user } = action
  const finish = async (message?: string) => {
    await client.invalidateQueries({ queryKey: ['people'] })
    if (message !== undefined) showToast(message)
    onClose()
  }
  const shared = { opened: true, onClose }
  switch (kind) {
    case 'invite':
      return (
        <FormDialog
          {...shared}
          title={`A link for ${user.name} to choose a password`}
          cancelLabel="Not now"
          submitLabel="Make the link"
          errorTitle="There is no new link."
          onSubmit={async () => {
            const invitation = await invite({ name: user.name })
            onLink(location.origin + invitation.path)
            await finish()
          }}
        >
          <p>It works once, for three days, and takes the place of earlier ones.</p>
          {user.has_password && <p>When the new password is set, all earlier sessions end.</p>}
        </FormDialog>
      )
    case 'sign out':
      return (
        <FormDialog
          {...shared}
          title={`Sign ${user.name} out everywhere?`}
          cancelLabel="Keep the sessions"
          submitLabel="End all sessions"
          errorTitle="No session was ended."
          onSubmit={async () => {
            const { count: ended } = await endSessions(user.name)
            await finish(`${pluralize(ended, 'session')} of ${user.name} ended.`)
          }}
        >
          <p>They have to sign in again. Tokens go on working.</p>
        </FormDialog>
      )
    case 'remove':
      return (
        <FormDialog
          {...shared}
          title={`Remove ${user.name}?`}
          cancelLabel="Keep the user"
          submitLabel={`Remove ${user.name}`}
          errorTitle="Nobody was removed."
          danger
          note="You can bring them back; sessions and tokens not."
          onSubmit={async () => {
            await removeUser(user.name)
            await finish(`${user.name} is removed.`)
          }}
        >
          <p>
            Sessions, tokens and delegations end at once. What they decided keeps their name, which nobody
            else can take.
          </p>
        </FormDialog>
      )
    case 'restore':
      return (
        <FormDialog
          {...shared}
          title={`Bring ${user.name} back?`}
          cancelLabel="Leave it so"
          submitLabel="Bring back"
          errorTitle="Nobody was brought back."
          onSubmit={async () => {
            await restoreUser(user.name)
            await finish(`${user.name} is back.`)
          }}
        >
          <p>Their roles hold again. Tokens have to be made anew.</p>
        </FormDialog>
      )
  }
}
