// Builds promtool, which the tests of the alerts run, before anything waits for it with a deadline.
import { findPromtool } from './promtool.ts'

try {
  await findPromtool(process.env, (line) => console.log(line))
  console.log('promtool is there')
} catch (error) {
  console.error((error as Error).message)
  process.exitCode = 1
}
