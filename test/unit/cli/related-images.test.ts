import t from 'tap'

import { relatedImages } from '../../../src/cli/options.ts'

t.test('images are known by the names that the environment gives them', async (t) => {
  const env = {
    RELATED_IMAGE_METRICS_EXPORTER: 'quay.io/a/b:1',
    RELATED_IMAGE_EMPTY: '',
    IMAGE_OTHER: 'x',
  }
  t.same(relatedImages(env), { 'metrics-exporter': 'quay.io/a/b:1' })
})
