import { areOptInsHeld, describeObstacle, holds, obstacleIn } from '../facts/conditions.ts'
import type { Facts } from '../facts/facts.ts'
import type { Asset, Catalog } from './catalog.ts'
import type { Section } from './catalog-schema.ts'

/** The name under which facts know a section. */
const sectionKey = (asset: Pick<Asset, 'name'>, section: Pick<Section, 'name'>) =>
  `${asset.name}/${section.name}`

/**
 * Whether a section applies: all its conditions hold; or it was in force before, and what asks for it still does. Hardware
 * that is gone, or that nobody labels any more, takes no field away: that could reboot nodes or end a service. Throws
 * when a condition cannot be evaluated.
 */
export function isInForce(asset: Asset, section: Section, facts: Facts): boolean {
  // All are evaluated, so that one in error is found wherever in the list it stands.
  const met = section.conditions.map((condition) => holds(condition, facts))
  return (
    met.every(Boolean) ||
    (facts.sections.includes(sectionKey(asset, section)) &&
      areOptInsHeld(section.conditions, facts))
  )
}

/** The sections in force on a cluster, given those that were before; one that cannot be judged stays as it was. */
export const sectionsInForce = (catalog: Catalog, facts: Facts): readonly string[] =>
  catalog.flatMap((asset) =>
    asset.sections
      .filter((section) => {
        try {
          return isInForce(asset, section, facts)
        } catch {
          return facts.sections.includes(sectionKey(asset, section))
        }
      })
      .map((section) => sectionKey(asset, section)),
  )

/** A sentence for each section of an active asset that somebody asked for and that waits for something else. */
export const waitingSections = (asset: Asset, facts: Facts): readonly string[] =>
  asset.sections.flatMap((section) => {
    const { name, install, conditions } = section
    if (install !== 'opt-in' || !areOptInsHeld(section.conditions, facts)) return []
    if (isInForce(asset, section, facts)) return []
    const failing = obstacleIn(conditions, facts)
    return failing ? [`its section ${name} ${describeObstacle(failing, facts)}`] : []
  })
