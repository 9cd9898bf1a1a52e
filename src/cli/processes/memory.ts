import { setFlagsFromString } from 'node:v8'

/**
 * Has V8 spare memory, before the process loads what it runs. Returns how to take back what costs time under load. Only processes
 * that stay do it: a command has nothing to spare for, and Node can hang at exit while V8's threads wait for memory
 * (https://github.com/nodejs/node/issues/54918).
 */
export function spareMemory(): () => void {
  // Left alone, V8 collects nothing while a start makes its garbage: the webhook took 112 MB at rest without this flag and 97 MB
  // with it, the reconciler with 1,000 nodes 145 and 116 MB at its peak.
  setFlagsFromString('--optimize-for-size')
  // The slowest of V8's compilers takes 5 MB at rest, of its own code alone, for what little is hot here; Maglev still runs.
  setFlagsFromString('--no-turbofan')
  return () => {
    setFlagsFromString('--no-optimize-for-size')
    setFlagsFromString('--turbofan')
  }
}
