// Builds what the embedded control plane lacks, before anything waits for it with a deadline.
import { findBinaries } from './build/binaries.ts'

try {
  const { version } = await findBinaries({
    env: process.env,
    print: (line) => console.log(line),
    controllerManager: false,
  })
  console.log(`the control plane of Kubernetes ${version} is there`)
} catch (error) {
  console.error((error as Error).message)
  process.exitCode = 1
}
