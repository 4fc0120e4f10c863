import { useSession } from '~/api/session'
import { roleLabels } from '~/lib/identity'
import { Page } from '~/ui/Page'
import styles from './Account.module.css'
import { Delegations } from './Delegations'
import { DisplayNameForm } from './DisplayNameForm'
import { OwnTokens } from './OwnTokens'
import { PasswordForm } from './PasswordForm'
import { Sessions } from './Sessions'

/** The account of the current user: password, sessions, tokens and delegations. */
export function AccountPage() {
  const { actor, display_name, email, roles, groups, acting_for } = useSession()
  const facts = [
    ['Username', actor],
    ['Email', email],
    ['Roles', roleLabels(roles)],
    ['Groups', groups.join(', ')],
    ['Delegate for', acting_for.join(', ')],
  ].filter(([, value]) => value !== '')
  return (
    <Page title="Your account" crumbs={[{ label: 'Settings', link: { to: '/settings' } }]}>
      <h1>{display_name || actor}</h1>
      <dl className={styles.facts}>
        {facts.map(([name, value]) => (
          <Fact key={name} name={name ?? ''} value={value ?? ''} />
        ))}
      </dl>
      <DisplayNameForm />
      <PasswordForm />
      <Sessions />
      <OwnTokens />
      <Delegations />
    </Page>
  )
}

function Fact({ name, value }: { name: string; value: string }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </>
  )
}
