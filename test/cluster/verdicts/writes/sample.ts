import { environment } from '../../harness/fixture.ts'

const EVERY = 3

/**
 * Every third of the ways to write, another third for each row of a table: each row goes several ways, and each way gets rows of each
 * verdict. What does not depend on the way stands in test/unit/webhook; `npm run test:long` takes all ways.
 */
export const sampled = <Way>(ways: readonly Way[], row: number): readonly Way[] =>
  environment().AUTOPILOT_TEST_RUNS ? ways : ways.filter((_, index) => (index + row) % EVERY === 0)
