import type { KubeObject } from '../../shared/engine/json/object.ts'

/** Tells what of an object asks for another pass from what does not: its status, and who manages what. */
export class News {
  readonly #seen = new Map<string, string>()

  /** Whether the object under this key, which may be gone, is another one than when it was asked last. */
  isNews(key: string, object: KubeObject | undefined): boolean {
    if (!object) return this.#seen.delete(key)
    const { uid, generation, annotations, finalizers, deletionTimestamp, ownerReferences } =
      object.metadata
    const told = [uid, generation, annotations, finalizers, deletionTimestamp, ownerReferences]
    const text = JSON.stringify(told)
    if (this.#seen.get(key) === text) return false
    this.#seen.set(key, text)
    return true
  }
}
