/**
 * For how many seconds the API server waits for each of the two entries, if nothing else is said: what an edit costs twice while the
 * webhook hangs. It is the least that the API server takes, and enough: on two cores, of 60,000 calls under up to eight writers none
 * took half a second, with four busy loops beside them, nor did the first calls after a start; the mean was 1 to 30 ms. With objects
 * of 300 KiB (new and old are sent) the mean was 120 ms, of 1 MiB 44 ms for one writer. Only four writers of one object of 1 MiB at
 * once, on cores that had five times as much to do, lost calls: 5 of 248.
 */
export const DEFAULT_TIMEOUT_S = 1
