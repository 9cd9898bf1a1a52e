/** An alert that is to fire, with the labels that the rule does not set itself, and what it says. */
export interface Firing {
  readonly alert: string
  readonly labels?: Readonly<Record<string, string>>
  readonly summary: string
  readonly description: string
}

/** What Prometheus has scraped, every 30 s, and what fires then: all others must be silent. */
export interface AlertCase {
  readonly name: string
  /** Series in promtool's notation: https://prometheus.io/docs/prometheus/latest/configuration/unit_testing_rules/#series */
  readonly series: Readonly<Record<string, string>>
  /** How long after the first scrape, and what fires at that moment. */
  readonly moments: Readonly<Record<string, readonly Firing[]>>
}

const HCO = 'kind="HyperConverged",namespace="openshift-cnv",name="kubevirt-hyperconverged"'
const SWAP = 'kind="MachineConfig",name="90-worker-swap-online"'
const swap = { kind: 'MachineConfig', name: '90-worker-swap-online' }
const hco = {
  kind: 'HyperConverged',
  namespace: 'openshift-cnv',
  name: 'kubevirt-hyperconverged',
}
const EXPIRY = 'virt_platform_webhook_certificate_expiry_timestamp_seconds'
const ALL = 'virt_platform_activation_info{pod="r1",mode="all"}'
const OFF = 'virt_platform_activation_info{pod="r1",mode="off"}'
const OBSERVE = 'virt_platform_activation_info{pod="r1",mode="observe"}'
const LEADS = 'virt_platform_leader{pod="r1"}'
const WAITS = 'virt_platform_leader{pod="r2"}'
const NINETY_DAYS = 90 * 86_400
/** What a cluster scrapes where all is well. */
const WELL = {
  [ALL]: '1x400',
  [LEADS]: '1x400',
  [WAITS]: '0x400',
  [`virt_platform_compliance_status{pod="r1",${HCO}}`]: '1x400',
  [`${EXPIRY}{pod="w1"}`]: `${NINETY_DAYS}x400`,
  [`${EXPIRY}{pod="w2"}`]: `${NINETY_DAYS}x400`,
}

const syncFailed: Firing = {
  alert: 'VirtPlatformSyncFailed',
  labels: swap,
  summary: 'MachineConfig 90-worker-swap-online is not what it should be.',
  description:
    'The autopilot could not bring MachineConfig 90-worker-swap-online to its desired state for 15 minutes. See what stops it: kubectl get events -A --field-selector reportingComponent=virt-platform-autopilot,type=Warning',
}
const thrashing: Firing = {
  alert: 'VirtPlatformThrashingDetected',
  labels: hco,
  summary: 'Somebody keeps changing HyperConverged openshift-cnv/kubevirt-hyperconverged.',
  description:
    'HyperConverged openshift-cnv/kubevirt-hyperconverged is changed as often as the autopilot puts it back; such edits are denied, or its management is paused. See who does it, and end the quarrel on one side: kubectl describe hyperconverged -n openshift-cnv kubevirt-hyperconverged',
}
const standingByFor = (reason: string): Firing => ({
  alert: 'VirtPlatformStandingBy',
  labels: { reason },
  summary: `The autopilot keeps nothing, though nobody switched it off (${reason}).`,
  description: `For 5 minutes the autopilot has written and corrected nothing: it looks, reports, and waits for a person (${reason}). See why, and what to do: kubectl get events -A --field-selector reportingComponent=virt-platform-autopilot,reason=${reason}`,
})
const webhookDown: Firing = {
  alert: 'VirtPlatformWebhookDown',
  summary: 'No webhook of the autopilot answers Prometheus.',
  description:
    'No replica of the webhook with a valid certificate was scraped for 5 minutes: writes to managed objects are not judged (or are refused, where the failure policy is Fail), and put back only afterwards. See whether its pods are ready: kubectl get pods -n autopilot -l app.kubernetes.io/name=virt-platform-autopilot',
}
const reconcilerDown: Firing = {
  alert: 'VirtPlatformReconcilerDown',
  summary: 'No reconciler of the autopilot leads.',
  description:
    'Prometheus has seen no leader for 5 minutes: what the webhook did not see is not healed, what is missing is not created, and a change of the HyperConverged’s settings has no effect. See who held the Lease last, and when: kubectl get lease -n autopilot virt-platform-autopilot.kubevirt.io -o yaml',
}
const admissionErrors: Firing = {
  alert: 'VirtPlatformAdmissionErrors',
  summary: 'The API server gets no verdict from the webhook.',
  description:
    'Calls of the webhook failed within the last 15 minutes: such writes are stored unjudged, or refused where the failure policy is Fail. See what the webhook says of it: kubectl logs -n autopilot -l app.kubernetes.io/name=virt-platform-autopilot --prefix --tail=100',
}
const expiring: Firing = {
  alert: 'VirtPlatformCertificateExpiring',
  labels: { pod: 'w1' },
  summary: 'The webhook’s certificate was not renewed.',
  description:
    'The certificate that w1 serves with expires in 6d 22h 0m 0s; an expired one the API server does not trust, and writes are not judged. See why nobody renews it: kubectl logs -n autopilot -l app.kubernetes.io/name=virt-platform-autopilot --prefix --tail=100',
}
const slow: Firing = {
  alert: 'VirtPlatformAdmissionSlow',
  summary: 'The webhook takes long to judge a write.',
  description:
    'One in a hundred writes to managed objects waits 995ms or longer for the webhook, which is given up after 1 s unless --webhook-timeout says otherwise. See whether it lacks CPU or memory: kubectl top pods -n autopilot -l app.kubernetes.io/name=virt-platform-autopilot',
}

/** The buckets of a histogram whose calls all take between two bounds. */
const calls = (name: string, labels: string, bounds: readonly [string, string]) => {
  const [under, upper] = bounds
  const bucket = (le: string) => `${name}_bucket{${labels},le="${le}"}`
  return { [bucket(under)]: '0x400', [bucket(upper)]: '0+5x400', [bucket('+Inf')]: '0+5x400' }
}
const API_SERVER_TIMES = 'apiserver_admission_webhook_admission_duration_seconds'
const API_SERVER = 'job="apiserver",type="admit",operation="UPDATE",rejected="false"'

/** Every alert fires in some of these, and is silent in others. */
export const CASES: readonly AlertCase[] = [
  { name: 'all is well', series: WELL, moments: { '20m': [], '3h': [] } },
  {
    name: 'who only observes wants nothing in sync, and a war of before is over',
    series: {
      [OBSERVE]: '1x400',
      [LEADS]: '1x400',
      [`virt_platform_compliance_status{pod="r1",${HCO}}`]: '0x400',
      [`virt_platform_thrashing_active{pod="w1",${HCO}}`]: '1x400',
      [`${EXPIRY}{pod="w1"}`]: `${NINETY_DAYS}x400`,
    },
    moments: { '3h': [] },
  },
  {
    name: 'switched off, nobody misses the webhook',
    series: {
      [OFF]: '1x400',
      [LEADS]: '1x400',
      [`${EXPIRY}{pod="w1"}`]: `${NINETY_DAYS}x10 stale`,
      [`virt_platform_thrashing_active{pod="w1",${HCO}}`]: '1x400',
    },
    moments: { '1h': [], '3h': [] },
  },
  {
    name: 'switched off and then stopped, nobody misses a leader either',
    series: {
      [OFF]: '1x100 stale',
      [LEADS]: '1x100 stale',
      [`${EXPIRY}{pod="w1"}`]: `${NINETY_DAYS}x10 stale`,
    },
    moments: { '1h': [], '3h': [] },
  },
  {
    name: 'an object that is not in sync, through a change of the leader, until it is',
    series: {
      ...WELL,
      [`virt_platform_compliance_status{pod="r1",${SWAP}}`]: '0x20 stale',
      [`virt_platform_compliance_status{pod="r2",${SWAP}}`]: '_x20 0x60 1x100',
    },
    moments: { '14m': [], '16m': [syncFailed], '42m': [] },
  },
  {
    name: 'a series of an asset that is gone ends its alert',
    series: { ...WELL, [`virt_platform_compliance_status{pod="r1",${SWAP}}`]: '0x60 stale' },
    moments: { '20m': [syncFailed], '32m': [] },
  },
  {
    name: 'what waits for approval has an alert of its own',
    series: {
      ...WELL,
      [`virt_platform_compliance_status{pod="r1",${SWAP}}`]: '0x400',
      [`virt_platform_pending_disruption{pod="r1",${SWAP}}`]: '1x400',
    },
    moments: {
      '14m': [],
      '1h': [
        {
          alert: 'VirtPlatformDisruptionPending',
          labels: swap,
          summary: 'A change of MachineConfig 90-worker-swap-online waits.',
          description:
            'A change of MachineConfig 90-worker-swap-online drains or reboots nodes and waits for approval, or for its pool, which is paused or updating. See what it does and how to approve it: kubectl get events -A --field-selector reportingComponent=virt-platform-autopilot,reason=DisruptionPending',
        },
      ],
    },
  },
  {
    name: 'a war, seen by a replica of the webhook and by the leader, is one alert',
    series: {
      ...WELL,
      [`virt_platform_thrashing_active{pod="w1",${HCO}}`]: '1x100 0x100',
      [`virt_platform_thrashing_active{pod="r1",${HCO}}`]: '1x100 0x100',
    },
    moments: { '30s': [], '2m': [thrashing], '52m': [] },
  },
  {
    name: 'wars that each end between two scrapes are counted',
    series: { ...WELL, [`virt_platform_thrashing_total{pod="w1",${HCO}}`]: '0+1x100' },
    moments: { '30m': [thrashing] },
  },
  {
    name: 'a few wars in an hour are none, and whose object is unmanaged has no quarrel',
    series: {
      ...WELL,
      [`virt_platform_thrashing_total{pod="w1",${HCO}}`]: '0x30 1x30 2x30 3x300',
      [`virt_platform_thrashing_active{pod="w1",${SWAP}}`]: '1x400',
      [`virt_platform_customization_info{pod="r1",${SWAP},type="unmanaged"}`]: '1x400',
    },
    moments: { '20m': [], '40m': [] },
  },
  {
    name: 'an invalid setting keeps it from keeping anything, through a change of the leader, until it is mended',
    series: {
      [OBSERVE]: '1x400',
      [LEADS]: '1x400',
      'virt_platform_standing_by{pod="r1",reason="InvalidSetting"}': '1x20 stale',
      'virt_platform_standing_by{pod="r2",reason="InvalidSetting"}': '_x20 1x40 stale',
      [`virt_platform_compliance_status{pod="r1",${HCO}}`]: '0x400',
      [`${EXPIRY}{pod="w1"}`]: `${NINETY_DAYS}x400`,
    },
    moments: {
      '4m': [],
      '6m': [standingByFor('InvalidSetting')],
      '25m': [standingByFor('InvalidSetting')],
      '35m': [],
    },
  },
  {
    name: 'another autopilot is given way to for longer than a moment',
    series: {
      [OBSERVE]: '1x400',
      [LEADS]: '1x400',
      'virt_platform_standing_by{pod="r1",reason="OtherAutopilot"}': '1x6 _x20 1x400',
      [`${EXPIRY}{pod="w1"}`]: `${NINETY_DAYS}x400`,
    },
    moments: { '4m': [], '10m': [], '30m': [standingByFor('OtherAutopilot')] },
  },
  {
    name: 'somebody asked for what the cluster does not serve',
    series: {
      ...WELL,
      'virt_platform_missing_dependency{pod="r1",group="metallb.io",version="v1beta1",kind="MetalLB"}':
        '1x400',
    },
    moments: {
      '4m': [],
      '10m': [
        {
          alert: 'VirtPlatformDependencyMissing',
          labels: { group: 'metallb.io', version: 'v1beta1', kind: 'MetalLB' },
          summary: 'The cluster does not serve MetalLB of metallb.io/v1beta1.',
          description:
            'Somebody asked for an asset that needs MetalLB of metallb.io/v1beta1, which the cluster does not serve. Install the operator that brings it, or take the request back; see which asset it is: kubectl get events -A --field-selector reportingComponent=virt-platform-autopilot,reason=CRDMissing',
        },
      ],
    },
  },
  {
    name: 'an obsolete object that cannot be deleted, and one that somebody claims',
    series: {
      ...WELL,
      [`virt_platform_tombstone_status{pod="r1",${SWAP}}`]: '-1x400',
      [`virt_platform_tombstone_status{pod="r1",${HCO}}`]: '-2x400',
    },
    moments: {
      '29m': [],
      '31m': [
        {
          alert: 'VirtPlatformTombstoneStuck',
          labels: swap,
          summary: 'MachineConfig 90-worker-swap-online is obsolete and cannot be deleted.',
          description:
            'The autopilot kept MachineConfig 90-worker-swap-online once and fails to delete it, or a finalizer has held its deletion up for 30 minutes. See its finalizers, and why whoever set them does not remove them: kubectl get machineconfig 90-worker-swap-online -o yaml',
        },
      ],
    },
  },
  {
    name: 'every replica of the webhook is gone, until one is back',
    series: {
      [ALL]: '1x400',
      [LEADS]: '1x400',
      [`${EXPIRY}{pod="w1"}`]: `${NINETY_DAYS}x20 stale`,
      [`${EXPIRY}{pod="w2"}`]: `${NINETY_DAYS}x20 stale`,
      [`${EXPIRY}{pod="w3"}`]: `_x100 ${NINETY_DAYS}x100`,
    },
    moments: { '9m': [], '14m': [], '17m': [webhookDown], '52m': [] },
  },
  {
    name: 'one of two replicas is gone',
    series: { ...WELL, [`${EXPIRY}{pod="w2"}`]: `${NINETY_DAYS}x20 stale` },
    moments: { '1h': [] },
  },
  {
    name: 'replicas without a certificate are as good as away',
    series: { [ALL]: '1x400', [LEADS]: '1x400', [`${EXPIRY}{pod="w1"}`]: '0x400' },
    moments: { '10m': [webhookDown] },
  },
  {
    name: 'the leader ends, and another leads within a minute',
    series: { ...WELL, [LEADS]: '1x20 stale', [WAITS]: '0x21 1x300' },
    moments: { '11m': [], '20m': [], '1h': [] },
  },
  {
    name: 'nobody leads, until somebody does',
    series: { ...WELL, [LEADS]: '1x20 stale', [WAITS]: '0x80 1x300' },
    moments: { '14m': [], '17m': [reconcilerDown], '42m': [] },
  },
  {
    name: 'the reconciler was never seen, beside a webhook that is',
    series: { [`${EXPIRY}{pod="w1"}`]: `${NINETY_DAYS}x400` },
    moments: { '4m': [], '10m': [reconcilerDown] },
  },
  {
    name: 'both processes are dead',
    series: {
      [ALL]: '1x20 stale',
      [LEADS]: '1x20 stale',
      [`${EXPIRY}{pod="w1"}`]: `${NINETY_DAYS}x20 stale`,
    },
    moments: { '20m': [webhookDown, reconcilerDown] },
  },
  {
    name: 'an autopilot that was never scraped is not missed',
    series: { 'up{job="apiserver"}': '1x400' },
    moments: { '3h': [] },
  },
  {
    name: 'both processes are dead, and the API server tells of the writes that pass unjudged',
    series: {
      'apiserver_admission_webhook_fail_open_count{job="apiserver",name="mutate.platform.kubevirt.io",type="admit"}':
        '0x10 1+1x100 101x100',
      'apiserver_admission_webhook_fail_open_count{job="apiserver",name="another.example.com",type="admit"}':
        '0+1x400',
    },
    moments: { '4m': [], '20m': [admissionErrors], '90m': [] },
  },
  {
    name: 'a single call that failed, where none had, is told for a while',
    series: {
      ...WELL,
      'up{job="apiserver",instance="a"}': '1x400',
      'apiserver_admission_webhook_fail_open_count{job="apiserver",instance="a",name="mutate.platform.kubevirt.io",type="admit"}':
        '_x60 1x300',
    },
    moments: { '29m': [], '34m': [], '37m': [admissionErrors], '46m': [] },
  },
  {
    name: 'failures of before somebody scraped the API server are not new',
    series: {
      ...WELL,
      'up{job="apiserver",instance="a"}': '_x60 1x300',
      'apiserver_admission_webhook_rejection_count{job="apiserver",instance="a",name="validate.platform.kubevirt.io",type="validating",operation="UPDATE",error_type="calling_webhook_error",rejection_code="500"}':
        '_x60 3x300',
    },
    moments: { '37m': [], '50m': [] },
  },
  {
    name: 'writes that are refused since the webhook does not answer, where that is the policy',
    series: {
      ...WELL,
      'apiserver_admission_webhook_rejection_count{job="apiserver",name="validate.platform.kubevirt.io",type="validating",operation="UPDATE",error_type="calling_webhook_error",rejection_code="500"}':
        '0+1x400',
    },
    moments: { '20m': [admissionErrors] },
  },
  {
    name: 'denials are verdicts, and no errors',
    series: {
      ...WELL,
      'apiserver_admission_webhook_rejection_count{job="apiserver",name="validate.platform.kubevirt.io",type="validating",operation="UPDATE",error_type="no_error",rejection_code="403"}':
        '0+1x400',
    },
    moments: { '20m': [] },
  },
  {
    name: 'writers wait for the webhook, as the API server sees it',
    series: {
      ...WELL,
      ...calls(API_SERVER_TIMES, `${API_SERVER},name="mutate.platform.kubevirt.io"`, ['0.5', '1']),
      ...calls(API_SERVER_TIMES, `${API_SERVER},name="another.example.com"`, ['1', '2.5']),
    },
    moments: { '9m': [], '30m': [slow] },
  },
  {
    name: 'the judging takes long, and nobody scrapes the API server',
    series: {
      ...WELL,
      ...calls('virt_platform_admission_duration_seconds', 'pod="w1",verdict="allowed"', [
        '0.1',
        '1',
      ]),
    },
    moments: { '30m': [{ ...slow, description: slow.description.replace('995ms', '991ms') }] },
  },
  {
    name: 'a certificate that nobody renews',
    series: { ...WELL, [`${EXPIRY}{pod="w1"}`]: `${7 * 86_400}x400` },
    moments: { '30m': [], '2h': [expiring] },
  },
  {
    name: 'an expired certificate beside a good one',
    series: { ...WELL, [`${EXPIRY}{pod="w1"}`]: '3600x400' },
    moments: {
      '3h': [
        {
          ...expiring,
          description:
            'The certificate that w1 serves with has expired; an expired one the API server does not trust, and writes are not judged. See why nobody renews it: kubectl logs -n autopilot -l app.kubernetes.io/name=virt-platform-autopilot --prefix --tail=100',
        },
      ],
    },
  },
]
