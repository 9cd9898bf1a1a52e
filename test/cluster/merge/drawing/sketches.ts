/** Two objects drawn as one, so that they meet: what either holds at each place, and which of them does. */
export type Sketch =
  /** The same in both. */
  | { readonly value: unknown }
  /** Each has its own. */
  | { readonly live: Sketch; readonly desired: Sketch }
  | { readonly members: Readonly<Record<string, Member>>; readonly isAtomic: boolean }
  | { readonly items: readonly Member[]; readonly isAtomic: boolean }

/** A field or a list item. */
export interface Member {
  readonly side: 'live' | 'desired' | 'both'
  /** An object that has the place around it is not valid without this one. */
  readonly isRequired: boolean
  readonly sketch: Sketch
}

/** The stored object of the two: a whole one. */
export const liveOf = (sketch: Sketch): unknown => {
  if ('value' in sketch) return sketch.value
  if ('live' in sketch) return liveOf(sketch.live)
  const isHeld = ({ side, isRequired }: Member) => side !== 'desired' || isRequired
  return 'items' in sketch
    ? sketch.items.filter(isHeld).map((item) => liveOf(item.sketch))
    : filled(sketch.members, isHeld, (member) => liveOf(member.sketch))
}

/** The desired object of the two: a partial one, whole only where it replaces or where live has nothing. */
export const desiredOf = (sketch: Sketch, isWhole = false): unknown => {
  if ('value' in sketch) return sketch.value
  if ('live' in sketch) return desiredOf(sketch.desired, true)
  const isAlone = isWhole || sketch.isAtomic
  const isHeld = ({ side, isRequired }: Member) => side !== 'live' || (isAlone && isRequired)
  const contentOf = (member: Member) =>
    desiredOf(member.sketch, isAlone || (member.side === 'desired' && !member.isRequired))
  return 'items' in sketch
    ? sketch.items.filter(isHeld).map(contentOf)
    : filled(sketch.members, isHeld, contentOf)
}

const filled = (
  members: Readonly<Record<string, Member>>,
  isHeld: (member: Member) => boolean,
  contentOf: (member: Member) => unknown,
) => {
  const held = Object.entries(members).filter(([, member]) => isHeld(member))
  return Object.fromEntries(held.map(([name, member]) => [name, contentOf(member)]))
}
