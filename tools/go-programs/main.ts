// Builds what is named and not there yet, before anything waits for it with a deadline:
// `node tools/go-programs/main.ts control-plane helm`.
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

try {
  for (const name of process.argv.slice(2)) await find(name)
} catch (error) {
  console.error((error as Error).message)
  process.exitCode = 1
}
