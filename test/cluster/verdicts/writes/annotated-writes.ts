import { corrected, healthCheck, swap } from './subjects.ts'
import { annotate, PREFIX, patchTo, type Write } from './write.ts'

const LABEL = `${PREFIX}/managed-by`

/** What our label and the overrides have done, and what is let pass since they say so. */
export const ANNOTATED: readonly Write[] = [
  {
    says: 'our label is removed',
    subject: healthCheck,
    edit: ({ metadata }) => {
      delete metadata.labels[LABEL]
    },
    verdict: 'corrected Drift',
    told: [/managed-by kept at "virt-platform-autopilot"/],
    applied: 'allowed InSync',
  },
  {
    says: 'our label is faked',
    subject: swap,
    edit: ({ metadata }, unique) => {
      metadata.labels[LABEL] = `someone-${unique}`
    },
    verdict: 'corrected Drift',
    told: [/managed-by kept at "virt-platform-autopilot"/],
    isContested: true,
  },
  {
    says: 'a patch asks for another value, and comes alone',
    subject: corrected,
    edit: patchTo('patched'),
    verdict: 'corrected Override',
    stored: (object) => {
      patchTo('patched')(object)
      object.data.value = 'patched'
    },
    told: [/\/data\/value set to "patched" by .*, as the patch now says/],
  },
  {
    says: 'an opt-out ends, and the object is not as it should be',
    subject: corrected,
    given: (object) => {
      annotate({ [`${PREFIX}/mode`]: 'unmanaged' })(object)
      object.data.value = 'theirs'
    },
    edit: ({ metadata }) => {
      delete metadata.annotations[`${PREFIX}/mode`]
    },
    verdict: 'corrected Override',
    stored: ({ metadata, data }) => {
      delete metadata.annotations
      data.value = 'kept'
    },
    told: [/\/data\/value set to "kept" by/],
    applied: 'allowed Unmanaged',
  },
  {
    says: 'a managed field of an unmanaged object is changed',
    subject: healthCheck,
    given: annotate({ [`${PREFIX}/mode`]: 'unmanaged' }),
    edit: ({ spec }, unique) => {
      spec.minHealthy = unique
    },
    verdict: 'allowed Unmanaged',
    isContested: true,
  },
  {
    says: 'a managed field of a paused object is changed, of what reboots nodes too',
    subject: swap,
    given: annotate({ [`${PREFIX}/reconcile-paused`]: 'true' }),
    edit: ({ spec }) => {
      spec.config.systemd.units = []
    },
    verdict: 'allowed Paused',
    isContested: true,
  },
  {
    says: 'a managed field is changed of an object whose override was stored invalid',
    subject: corrected,
    given: annotate({ [`${PREFIX}/patch`]: 'no JSON' }),
    edit: ({ data }, unique) => {
      data.value = `edited ${unique}`
    },
    verdict: 'allowed Held',
    isContested: true,
  },
]
