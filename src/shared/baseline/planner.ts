import type { KubeObject } from '../engine/json/object.ts'
import * as patch from '../engine/overrides/patch.ts'
import * as engine from '../engine/plan.ts'
import { NAMES } from './annotations.ts'

// The engine, with the names that the overrides of this system have.

export const plan = (input: engine.PlanInput) => engine.plan(input, NAMES)

export const switchProblems = (object: KubeObject | undefined) =>
  engine.switchProblems(object, NAMES)

export const PATCH_BLOCKED = engine.patchBlocked(NAMES)

export const applyPatch = (baseline: KubeObject, text: string) =>
  patch.applyPatch(baseline, text, NAMES)
