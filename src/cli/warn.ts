import { escapeControls } from '../shared/engine/show.ts'

/** Tells what a person should know beside the answer, on standard error. */
export const warn = (line: string) => {
  process.stderr.write(`virt-platform-autopilot: ${escapeControls(line)}\n`)
}
