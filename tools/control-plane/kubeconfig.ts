import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Somebody who writes to the cluster. */
export interface User {
  readonly name: string
  readonly groups: readonly string[]
}

/** A user who has a token of their own. */
export interface Account extends User {
  readonly token: string
}

/** Those who have a token, the administrator first. */
export type Accounts = readonly [admin: Account, ...others: Account[]]

/** The group that may do everything, by RBAC rather than by name. */
export const PLATFORM_ADMINS = 'platform-admins'

/** The people of a cluster to try things on: an administrator, a colleague and a GitOps agent. */
export function createAccounts(): Accounts {
  const account = (name: string, group: string): Account => ({
    name,
    groups: [group],
    token: randomBytes(24).toString('hex'),
  })
  return [
    account('admin', 'system:masters'),
    account('alice', PLATFORM_ADMINS),
    account('gitops', PLATFORM_ADMINS),
  ]
}

/** The file for `--token-auth-file`. */
export function tokenFile(accounts: readonly Account[]): string {
  const line = ({ token, name, groups }: Account) => `${token},${name},${name},"${groups.join()}"\n`
  return accounts.map(line).join('')
}

/** The cluster that kubeconfigs are for, and where they are written. */
export interface KubeconfigTarget {
  readonly dataDir: string
  readonly url: string
  readonly ca: string
  readonly accounts: Accounts
}

/** A function that writes a user's kubeconfig, once, and says where; who has no account is impersonated. */
export function createKubeconfigs(target: KubeconfigTarget): (user: User) => string {
  const [admin] = target.accounts
  const written = new Set<string>()
  return ({ name, groups }) => {
    const account = target.accounts.find((known) => known.name === name)
    const hasToken = account?.groups.join() === groups.join()
    const path = join(target.dataDir, `kubeconfig-${hasToken ? name : fileName(name, groups)}`)
    const credentials = hasToken
      ? { token: account?.token }
      : { token: admin.token, as: name, 'as-groups': groups }
    // It never changes, and somebody may be reading it.
    if (!written.has(path))
      writeFileSync(path, kubeconfigText(target, name, credentials), { mode: 0o600 })
    written.add(path)
    return path
  }
}

const fileName = (name: string, groups: readonly string[]) =>
  encodeURIComponent([name, ...groups].join(' '))

// In JSON, which is YAML.
function kubeconfigText({ url, ca }: KubeconfigTarget, user: string, credentials: object): string {
  const name = 'virt-platform-autopilot'
  const authority = Buffer.from(ca).toString('base64')
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name, cluster: { server: url, 'certificate-authority-data': authority } }],
    users: [{ name: user, user: credentials }],
    contexts: [{ name, context: { cluster: name, user } }],
    'current-context': name,
  }
  return `${JSON.stringify(config, null, 2)}\n`
}
