import { useQueryClient } from '@tanstack/react-query'
import { deleteUser, endSessions, invite, restoreUser } from '~/api/identity'
import { pluralize } from '~/lib/formatting'
import { FormDialog } from '~/ui/FormDialog'
import { showToast } from '~/ui/toasts'
import type { UserAction } from './UserMenu'

type Props = { action: UserAction | null; onClose: () => void; onLink: (link: string) => void }

/** The confirmation dialogs of the user actions. */
export function UserActionDialogs({ action, onClose, onLink }: Props) {
  const client = useQueryClient()
  if (action === null || action.kind === 'change') return null
  const { kind, user } = action
  const finish = async (message?: string) => {
    await client.invalidateQueries({ queryKey: ['identity'] })
    if (message !== undefined) showToast(message)
    onClose()
  }
  const shared = { opened: true, onClose }
  switch (kind) {
    case 'invite':
      return (
        <FormDialog
          {...shared}
          title={`Create a password link for ${user.name}`}
          cancelLabel="Cancel"
          submitLabel="Create link"
          errorTitle="Couldn't create the link."
          onSubmit={async () => {
            const invitation = await invite({ name: user.name })
            onLink(location.origin + invitation.path)
            await finish()
          }}
        >
          <p>The link works once, expires after three days and replaces earlier links.</p>
          {user.has_password && <p>Setting a new password ends all existing sessions.</p>}
        </FormDialog>
      )
    case 'sign out':
      return (
        <FormDialog
          {...shared}
          title={`Sign ${user.name} out everywhere?`}
          cancelLabel="Cancel"
          submitLabel="End all sessions"
          errorTitle="Couldn't end the sessions."
          onSubmit={async () => {
            const { count: ended } = await endSessions(user.name)
            await finish(`Ended ${pluralize(ended, 'session')} of ${user.name}.`)
          }}
        >
          <p>The user has to sign in again. Tokens keep working.</p>
        </FormDialog>
      )
    case 'delete':
      return (
        <FormDialog
          {...shared}
          title={`Delete ${user.name}?`}
          cancelLabel="Cancel"
          submitLabel={`Delete ${user.name}`}
          errorTitle="Couldn't delete the user."
          danger
          note="You can restore the user, but not their sessions and tokens."
          onSubmit={async () => {
            await deleteUser(user.name)
            await finish(`Deleted ${user.name}.`)
          }}
        >
          <p>
            Sessions, tokens and delegations end immediately. Past decisions keep the username, which stays
            reserved.
          </p>
        </FormDialog>
      )
    case 'restore':
      return (
        <FormDialog
          {...shared}
          title={`Restore ${user.name}?`}
          cancelLabel="Cancel"
          submitLabel="Restore user"
          errorTitle="Couldn't restore the user."
          onSubmit={async () => {
            await restoreUser(user.name)
            await finish(`Restored ${user.name}.`)
          }}
        >
          <p>The user gets their roles back. Tokens have to be created again.</p>
        </FormDialog>
      )
  }
}
