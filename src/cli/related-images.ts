import type { Env } from '../shared/ops/env.ts'

const PREFIX = 'RELATED_IMAGE_'

/** Images by name, as the environment states them: RELATED_IMAGE_METRICS_EXPORTER gives metrics-exporter. */
export const relatedImages = (env: Env): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(env).flatMap(([key, value]) =>
      key.startsWith(PREFIX) && value
        ? [[key.slice(PREFIX.length).toLowerCase().replaceAll('_', '-'), value]]
        : [],
    ),
  )
