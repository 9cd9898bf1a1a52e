// tap reporter: for each failed assertion its path, place and difference; the last line is "N passed, N failed".
import { Transform } from 'node:stream'
import { Parser } from 'tap-parser'

export default class Summary extends Transform {
  #parser = new Parser()
  #count = { passed: 0, failed: 0, skipped: 0, todo: 0 }

  constructor() {
    super()
    this.#follow(this.#parser, [])
  }

  #follow(parser, path) {
    let child
    parser.on('child', (next) => {
      child = next
      this.#follow(next, [...path, next.name])
    })
    parser.on('assert', (result) => {
      const isLeaf = !child || child.results?.count === 0 // a suite's own line repeats its children
      child = undefined
      if (isLeaf) this.#tally(result, [...path, result.name])
    })
  }

  #tally({ skip, todo, ok, diag }, path) {
    const kind = skip ? 'skipped' : todo ? 'todo' : ok ? 'passed' : 'failed'
    this.#count[kind]++
    if (kind !== 'failed') return
    const at = diag?.at?.fileName ? `  at ${diag.at.fileName}:${diag.at.lineNumber}\n` : ''
    this.push(`FAIL ${path.filter(Boolean).join(' > ')}\n${at}${diag?.diff ?? diag?.stack ?? ''}\n`)
  }

  _transform(chunk, _encoding, done) {
    this.#parser.write(chunk.toString())
    done()
  }

  _flush(done) {
    this.#parser.on('complete', () => {
      const { passed, failed, skipped, todo } = this.#count
      if (skipped + todo > 0) this.push(`${skipped} skipped, ${todo} todo\n`)
      this.push(`${passed} passed, ${failed} failed\n`)
      done()
    })
    this.#parser.end()
  }
}
