import { useQueryClient } from '@tanstack/react-query'
import { endSessions, invite, removeUser, restoreUser } from '~/api/identity'
import { count } from '~/lib/formatting'
import { FormDialog } from '~/ui/FormDialog'
import { tell } from '~/ui/toasts'
import type { Deed } from './UserMenu'

type Props = { deed: Deed | null; onClose: () => void; onLink: (link: string) => void }

/** What is done about a user, each said before it is done. */
export function UserDeeds({ deed, onClose, onLink }: Props) {
  const client = useQueryClient()
  if (deed === null || deed.kind === 'change') return null
  const { kind, user } = deed
  const done = async (told?: string) => {
    await client.invalidateQueries({ queryKey: ['people'] })
    if (told !== undefined) tell(told)
    onClose()
  }
  const shared = { opened: true, onClose }
  switch (kind) {
    case 'invite':
      return (
        <FormDialog
          {...shared}
          title={`A link for ${user.name} to choose a password`}
          keep="Not now"
          send="Make the link"
          refused="There is no new link."
          onSend={async () => {
            const made = await invite({ name: user.name })
            onLink(location.origin + made.path)
            await done()
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
          keep="Keep the sessions"
          send="End all sessions"
          refused="No session was ended."
          onSend={async () => {
            const { count: ended } = await endSessions(user.name)
            await done(`${count(ended, 'session')} of ${user.name} ended.`)
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
          keep="Keep the user"
          send={`Remove ${user.name}`}
          refused="Nobody was removed."
          danger
          note="You can bring them back; sessions and tokens not."
          onSend={async () => {
            await removeUser(user.name)
            await done(`${user.name} is removed.`)
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
          keep="Leave it so"
          send="Bring back"
          refused="Nobody was brought back."
          onSend={async () => {
            await restoreUser(user.name)
            await done(`${user.name} is back.`)
          }}
        >
          <p>Their roles hold again. Tokens have to be made anew.</p>
        </FormDialog>
      )
  }
}
