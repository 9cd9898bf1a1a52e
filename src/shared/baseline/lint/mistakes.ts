import type { TitledEntry } from '../catalog/catalog-text.ts'

/** A mistake in an entry of a catalog. */
export interface EntryMistake {
  /** Leads from the entry to the member at fault. */
  readonly path: readonly string[]
  /** A phrase that follows the path. */
  readonly message: string
}

/** A mistake on a line of a template, from 1. */
export interface Mistake {
  readonly line: number
  readonly message: string
}

/** A mistake for each place of which there is something to say. */
export const mistakesAt = <Found extends { readonly line: number }>(
  places: readonly Found[],
  say: (place: Found) => string | undefined,
): readonly Mistake[] =>
  places.flatMap((place) => {
    const message = say(place)
    return message === undefined ? [] : [{ line: place.line, message }]
  })

/** The mistakes of an entry as lines. */
export const linesOf = <Entry>(
  { titleOf }: TitledEntry<Entry>,
  mistakes: readonly EntryMistake[],
): readonly string[] => mistakes.map(({ path, message }) => `${titleOf(path)} ${message}`)
