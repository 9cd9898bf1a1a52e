// biome-ignore lint/style/noProcessEnv: the only variable that a unit test reads
const FACTOR = Number(process.env.AUTOPILOT_TEST_RUNS ?? 1)

/** How often a property is tried: few times by default, and as many times more as AUTOPILOT_TEST_RUNS says. */
export const runs = (few: number): number => Math.ceil(few * FACTOR)
