// tap reporter, for files that are run by `tap` itself: says what `npm test` says of them.
import { Transform } from 'node:stream'
import { readTap, summary } from './test/tap-results.ts'

export default class Summary extends Transform {
  #tap = readTap('', (failure) => this.push(failure))

  _transform(chunk, _encoding, done) {
    this.#tap.parser.write(chunk.toString())
    done()
  }

  _flush(done) {
    this.#tap.parser.on('complete', () => {
      this.push(summary(this.#tap.counts))
      done()
    })
    this.#tap.parser.end()
  }
}
