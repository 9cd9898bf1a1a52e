import { corrected, healthCheck, hyperConverged, refused, swap } from './subjects.ts'
import { annotate, PREFIX, patchTo, type Write } from './write.ts'

/** Fields that are put back. */
export const CORRECTIONS: readonly Write[] = [
  {
    says: 'a managed field of a custom resource is set otherwise',
    subject: healthCheck,
    edit: ({ spec }, unique) => {
      spec.minHealthy = unique
    },
    verdict: 'corrected Drift',
    told: [
      /: \/spec\/minHealthy kept at "51%" by/,
      /^To change it: kubectl annotate nodehealthcheck/,
    ],
    isContested: true,
  },
  {
    says: 'a managed field of a built-in kind is set otherwise, and another one beside it is set',
    subject: corrected,
    edit: ({ data }, unique) => {
      data.value = `edited ${unique}`
      data.beside = 'theirs'
    },
    verdict: 'corrected Drift',
    stored: ({ data }) => {
      data.beside = 'theirs'
    },
    told: [/: \/data\/value kept at "kept" by/, /^To change it: kubectl annotate configmap/],
    isContested: true,
  },
  {
    says: 'a managed field is left out',
    subject: corrected,
    edit: ({ data }) => {
      delete data.value
    },
    verdict: 'corrected Drift',
    told: [/: \/data\/value kept at "kept" by/, /^To own it yourself: kubectl annotate/],
    applied: 'allowed InSync',
  },
  {
    says: 'an item of a managed list is left out',
    subject: healthCheck,
    edit: ({ spec }) => spec.unhealthyConditions.pop(),
    verdict: 'corrected Drift',
    told: [/unhealthyConditions\/1 kept at .*"Unknown"/, /^To change it, then repeat the edit: /],
    applied: 'allowed InSync',
  },
  {
    says: 'all of a managed field is left out that reboots nodes',
    subject: swap,
    edit: ({ spec }) => {
      delete spec.config
    },
    verdict: 'corrected Drift',
    told: [
      /ignition\/version kept at/,
      /storage\/files kept at/,
      /systemd\/units kept at/,
      /^To own it yourself: /,
    ],
    applied: 'allowed InSync',
  },
]

/** What is let pass, without a word unless there is something to say. */
export const ALLOWANCES: readonly Write[] = [
  {
    says: 'nothing is changed',
    subject: healthCheck,
    edit: () => undefined,
    verdict: 'allowed InSync',
  },
  {
    says: 'only what is not managed is changed',
    subject: hyperConverged,
    edit: ({ spec }, unique) => {
      spec.virtualization.liveMigrationConfig.parallelMigrationsPerCluster = unique
    },
    verdict: 'allowed InSync',
    isContested: true,
  },
  {
    says: 'only others’ labels, annotations and owners are changed, of what reboots nodes too',
    subject: swap,
    edit: ({ metadata }, unique) => {
      metadata.labels['app.kubernetes.io/instance'] = `app-${unique}`
      metadata.annotations = {
        ...metadata.annotations,
        'argocd.argoproj.io/tracking-id': `app:MachineConfig:/90-worker-swap-online-${unique}`,
      }
      const owner = { apiVersion: 'v1', kind: 'Namespace', name: 'default' }
      metadata.ownerReferences = [{ ...owner, uid: '0b8c3f0e-6d0c-4f6c-9b4e-3f1e2d3c4b5a' }]
    },
    verdict: 'allowed InSync',
    told: [/it is deleted with its owner, .*; a change would reboot 3 nodes of pool worker/],
  },
  {
    says: 'owners are removed',
    subject: corrected,
    given: ({ metadata }) => {
      const owner = { apiVersion: 'v1', kind: 'Namespace', name: 'default' }
      metadata.ownerReferences = [{ ...owner, uid: '0b8c3f0e-6d0c-4f6c-9b4e-3f1e2d3c4b5a' }]
    },
    edit: ({ metadata }) => {
      delete metadata.ownerReferences
    },
    verdict: 'allowed InSync',
    applied: 'allowed InSync',
  },
  {
    says: 'a managed field is changed with the patch that makes it legitimate',
    subject: corrected,
    edit: (object, unique) => {
      patchTo(`patched ${unique}`)(object)
      object.data.value = `patched ${unique}`
    },
    verdict: 'allowed InSync',
    isContested: true,
  },
  {
    says: 'a managed field is changed together with ignore-fields for it, on a sensitive kind too',
    subject: swap,
    edit: (object) => {
      annotate({ [`${PREFIX}/ignore-fields`]: '/spec/config/systemd' })(object)
      object.spec.config.systemd.units = []
    },
    verdict: 'allowed InSync',
    isContested: true,
  },
  {
    says: 'what was wrong before stays wrong, and something else is changed',
    subject: corrected,
    given: ({ data }) => {
      data.value = 'theirs'
    },
    edit: ({ data }, unique) => {
      data.beside = `theirs ${unique}`
    },
    verdict: 'allowed InSync',
  },
  {
    says: 'a setting names an asset that there is not',
    subject: hyperConverged,
    edit: annotate({ [`${PREFIX}/autopilot`]: 'hco-golden-config,metalb' }),
    verdict: 'allowed InSync',
    told: [
      /no asset or group is named "metalb": did you mean "metallb"\?/,
      /node-health-standard.* are not kept any more from now on/,
    ],
  },
]

/** What is not stored at all. */
export const DENIALS: readonly Write[] = [
  {
    says: 'a managed field is set otherwise that reboots nodes',
    subject: swap,
    edit: ({ spec }) => {
      spec.config.systemd.units = []
    },
    verdict: 'denied Drift 403',
    told: [
      /: \/spec\/config\/systemd\/units.* is kept by .*; a change would reboot 3 nodes of pool worker/,
    ],
    isContested: true,
  },
  {
    says: 'a managed field is set otherwise where the asset says deny',
    subject: refused,
    edit: ({ data }, unique) => {
      data.value = `edited ${unique}`
    },
    verdict: 'denied Drift 403',
    told: [/: \/data\/value is kept by/, /^To make this edit stick: kubectl annotate configmap/m],
    isContested: true,
  },
  {
    says: 'an override is no valid one',
    subject: healthCheck,
    edit: annotate({ [`${PREFIX}/mode`]: 'off', [`${PREFIX}/patch`]: '[{"op":"add"}]' }),
    verdict: 'denied InvalidOverride 403',
    told: [/mode must be "unmanaged" or "managed"/, /operation 0/],
  },
  {
    says: 'a sensitive kind is to be patched',
    subject: swap,
    edit: annotate({ [`${PREFIX}/patch`]: '[]' }),
    verdict: 'denied PatchBlocked 403',
    told: [/grants power over nodes/, /^To own the object: kubectl annotate machineconfig/m],
  },
  {
    says: 'a setting is no valid one',
    subject: hyperConverged,
    edit: annotate({ [`${PREFIX}/autopilot`]: 'True' }),
    verdict: 'denied InvalidSetting 403',
    told: [/autopilot must be "true", "false", "observe" or/],
  },
]
