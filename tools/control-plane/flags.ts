import { join } from 'node:path'

/** Where etcd listens. */
export interface EtcdPorts {
  readonly client: number
  readonly peer: number
}

/** The files of a control plane, all in its data directory. */
export interface Files {
  readonly certificates: string
  readonly serviceAccountKey: string
  readonly serviceAccountPublicKey: string
  readonly tokens: string
  readonly auditPolicy: string
  readonly auditLog: string
  readonly stages: string
}

/** The files of a control plane whose data directory this is. */
export function filesIn(dataDir: string): Files {
  return {
    certificates: join(dataDir, 'certificates'),
    serviceAccountKey: join(dataDir, 'service-account.key'),
    serviceAccountPublicKey: join(dataDir, 'service-account.pub'),
    tokens: join(dataDir, 'tokens.csv'),
    auditPolicy: join(dataDir, 'audit-policy.json'),
    auditLog: join(dataDir, 'audit.log'),
    stages: join(dataDir, 'stages.yaml'),
  }
}

/** The flags of an etcd for one API server whose data nobody keeps. */
export function etcdFlags(name: string, dataDir: string, { client, peer }: EtcdPorts): string[] {
  const peerUrl = `http://127.0.0.1:${peer}`
  const clientUrl = `http://127.0.0.1:${client}`
  return [
    `--name=${name}`,
    `--data-dir=${join(dataDir, 'etcd')}`,
    '--unsafe-no-fsync',
    // It votes alone, and waits this long before it does: 0.6 s less than by default. With a heartbeat of 10 ms it
    // would need 1 % of a processor at rest, and 0.3 % with this.
    '--heartbeat-interval=50',
    '--election-timeout=250',
    `--listen-client-urls=${clientUrl}`,
    `--advertise-client-urls=${clientUrl}`,
    `--listen-peer-urls=${peerUrl}`,
    `--initial-advertise-peer-urls=${peerUrl}`,
    `--initial-cluster=${name}=${peerUrl}`,
  ]
}

/** The flags of an API server with RBAC, on the loopback interface. */
export function apiServerFlags(files: Files, etcd: EtcdPorts, port: number): string[] {
  return [
    `--etcd-servers=http://127.0.0.1:${etcd.client}`,
    '--bind-address=127.0.0.1',
    `--secure-port=${port}`,
    `--cert-dir=${files.certificates}`,
    '--authorization-mode=RBAC',
    `--token-auth-file=${files.tokens}`,
    '--service-account-issuer=https://kubernetes.default.svc',
    `--service-account-key-file=${files.serviceAccountPublicKey}`,
    `--service-account-signing-key-file=${files.serviceAccountKey}`,
    '--service-cluster-ip-range=10.0.0.0/24',
    '--allow-privileged',
  ]
}

/** The flags that make an API server write down each request that its audit policy names. */
export function auditFlags({ auditPolicy, auditLog }: Files): string[] {
  return [
    `--audit-policy-file=${auditPolicy}`,
    `--audit-log-path=${auditLog}`,
    // In megabytes, 100 by default: who reads a log that goes on growing finds all of it in one file.
    '--audit-log-maxsize=100000',
  ]
}

/** The flags of a controller manager that listens nowhere. */
export function controllerManagerFlags(
  files: Files,
  kubeconfig: string,
  hasKubelets: boolean,
): string[] {
  return [
    `--kubeconfig=${kubeconfig}`,
    '--secure-port=0',
    '--leader-elect=false',
    // As in any cluster: admission tells by their names who cleans up.
    '--use-service-account-credentials',
    // Where no kubelet reports for the sample nodes they would turn not ready within a minute.
    ...(hasKubelets ? [] : ['--controllers=*,-node-lifecycle-controller']),
    `--service-account-private-key-file=${files.serviceAccountKey}`,
    `--root-ca-file=${join(files.certificates, 'apiserver.crt')}`,
  ]
}
