import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseAllDocuments } from 'yaml'
import type { KubeObject } from '../../../src/shared/engine/json/object.ts'

const PAGE = readFileSync(join(import.meta.dirname, '../../../docs/baseline/gitops.md'), 'utf8')

/** The blocks of the page on GitOps in one language, in their order. */
export const blocks = (language: string): readonly string[] =>
  [...PAGE.matchAll(/```(\w+)\n([\s\S]*?)```/g)].flatMap(([, stated, text = '']) =>
    stated === language ? [text] : [],
  )

/** All objects that the page shows, in their order. */
export const shown: readonly KubeObject[] = blocks('yaml')
  .flatMap((text) => parseAllDocuments(text))
  .map((document) => {
    if (document.errors.length > 0) throw document.errors[0]
    return document.toJSON()
  })

const TOOLS = /(argoproj\.io|toolkit\.fluxcd\.io)\//

/** What the page tells to the tools: objects of their own kinds. */
export const forTools = shown.filter(({ apiVersion }) => TOOLS.test(apiVersion))

/** What the page has in Git for the platform. */
export const inGit = shown.filter(({ apiVersion }) => !TOOLS.test(apiVersion))
