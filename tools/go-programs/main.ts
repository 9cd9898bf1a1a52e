// Builds what is named and not there yet, before anything waits for it with a deadline:
// `node tools/go-programs/main.ts control-plane helm`. After `--path` it prints where one of the tools is, and nothing else.
import { findBinaries } from './binaries.ts'
import { findTool, TOOL_NAMES, type ToolName } from './tools.ts'

const print = (line: string) => console.log(line)
const isTool = (name: string): name is ToolName => TOOL_NAMES.some((tool) => tool === name)

async function find(name: string): Promise<void> {
  if (isTool(name)) {
    await findTool(name, process.env, print)
    return print(`${name} is there`)
  }
  if (name !== 'control-plane')
    throw new Error(`"${name}" is none of control-plane, ${TOOL_NAMES.join(', ')}`)
  const { version } = await findBinaries({ env: process.env, print, controllers: false })
  print(`the control plane of Kubernetes ${version} is there`)
}

async function printPath(name = ''): Promise<void> {
  if (!isTool(name)) throw new Error(`"${name}" is none of ${TOOL_NAMES.join(', ')}`)
  print(await findTool(name, process.env, (line) => console.error(line)))
}

try {
  const [first, ...others] = process.argv.slice(2)
  if (first === '--path') await printPath(others[0])
  else for (const name of process.argv.slice(2)) await find(name)
} catch (error) {
  console.error((error as Error).message)
  process.exitCode = 1
}
