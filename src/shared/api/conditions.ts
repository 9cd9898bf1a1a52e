/** One condition of a status, as kubectl, kstatus and Argo CD read them. */
export interface Condition {
  /** For which generation of the object it was found. */
  readonly observedGeneration: number
  readonly type: string
  readonly status: 'True' | 'False' | 'Unknown'
  /** One word in PascalCase. */
  readonly reason: string
  readonly message: string
  /** When its status last changed, RFC 3339. */
  readonly lastTransitionTime: string
}

/** A condition as it was found, without the time. */
export type Finding = Omit<Condition, 'lastTransitionTime' | 'observedGeneration'>

// What the schema of a condition allows: https://pkg.go.dev/k8s.io/apimachinery/pkg/apis/meta/v1#Condition
const LONGEST_MESSAGE = 32_768

/**
 * The conditions that a status is to have now: those found, in their order, each with the time of its last transition. What was
 * there before and was not found again is gone. `now` is RFC 3339.
 */
export const conditionsFrom = (
  found: readonly Finding[],
  before: readonly Condition[] | undefined,
  { generation, now }: { readonly generation: number; readonly now: string },
): readonly Condition[] =>
  found.map(({ message, ...finding }) => {
    const known = before?.find(({ type }) => type === finding.type)
    const isSame = known?.status === finding.status
    return {
      observedGeneration: generation,
      ...finding,
      message: message.slice(0, LONGEST_MESSAGE),
      lastTransitionTime: isSame ? known.lastTransitionTime : now,
    }
  })
