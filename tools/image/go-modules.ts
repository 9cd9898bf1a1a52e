import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Component } from './component.ts'
import { licenceFilesIn } from './licence-texts.ts'

/**
 * The Go modules of which a program holds code, by a folder that the Containerfile fills: what `go version -m` says of the program, and
 * beside it their licences, as `go mod vendor` copies them. Throws where one has no licence that we know.
 */
export function goModules(folder: string): readonly Component[] {
  const said = readFileSync(join(folder, 'modules.txt'), 'utf8')
  const [, go = ''] = /: go(\S+)\n/.exec(said) ?? []
  const linked = [...said.matchAll(/^\tdep\t(\S+)\t(\S+)\t(\S+)$/gm)]
  return [
    ...linked.map(([, name = '', version = '', sum = '']) => ({ name, version, sum })),
    { name: 'std', version: go, sum: undefined },
  ].map(({ name, version, sum }) => {
    const path = join(folder, 'modules', name)
    return {
      path,
      name,
      version,
      license: licenceIn(path),
      purl: `pkg:golang/${name}@${version}`,
      // As go.sum has it: a sum over the names and sums of the module's files.
      ...(sum !== undefined && { integrity: sum.replace(/^h1:/, 'sha256-') }),
    }
  })
}

// What a text says that is of a licence and of no other, each of which asks for no more than to be named.
const PHRASES: Readonly<Record<string, RegExp>> = {
  'Apache-2.0': /Apache License,?\s+Version 2\.0/,
  MIT: /Permission is hereby granted, free of charge/,
  'BSD-3-Clause': /Redistribution and use in source and binary forms[\s\S]*Neither the name/,
}

function licenceIn(path: string): string {
  const texts = licenceFilesIn(path)
    .filter((name) => /^licen[cs]e(\.md)?$/i.test(name))
    .map((name) => readFileSync(join(path, name), 'utf8'))
    .join('\n')
  const found = Object.keys(PHRASES).filter((id) => PHRASES[id]?.test(texts))
  if (found.length > 0) return found.join(' AND ')
  throw new Error(`${path} has no licence that is known: ${readdirSync(path).join(', ')}`)
}
