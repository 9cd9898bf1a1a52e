import { type Place, run } from './command.ts'
import type { GoModule } from './lock.ts'

/** The file with the modules' sums, in go's own format. */
export const SUMS_FILE = 'crds.go.sum'

/** What `go mod download -json` prints of a module. */
interface Answer {
  readonly Dir?: string
  readonly Sum?: string
  readonly Error?: string
}

/**
 * Downloads a module, or finds it in go's cache, and gives its folder there. The folder that go runs in has
 * the sums as its go.sum: go refuses any other content, whatever the checksum database knows.
 */
export async function downloadModule(
  { module, version }: GoModule,
  { sums, ...place }: Place & { readonly sums: string },
): Promise<string> {
  const title = `${module}@${version}`
  const wanted = sumOf(sums, `${module} ${version} `)
  if (wanted === undefined)
    throw new Error(`${title} has no sum in ${SUMS_FILE}: add its two lines, as go.sum has them`)
  const { stdout, stderr } = await run('go', ['mod', 'download', '-json', title], place)
  const answer = JSON.parse(String(stdout) || '{}') as Answer
  const problem = answer.Error ?? (answer.Dir === undefined ? stderr.trim() : undefined)
  if (problem !== undefined) throw new Error(`go mod download ${title}: ${firstLines(problem)}`)
  if (answer.Sum !== wanted)
    throw new Error(`${title} has the sum ${answer.Sum}: ${SUMS_FILE} says ${wanted}`)
  return answer.Dir ?? ''
}

// Of a wrong sum go first says which, and then at length what that may mean.
const firstLines = (text: string) =>
  text
    .split('\n')
    .slice(0, 3)
    .map((line) => line.trim())
    .join(', ')

const sumOf = (sums: string, start: string) =>
  sums
    .split('\n')
    .find((line) => line.startsWith(start))
    ?.slice(start.length)
