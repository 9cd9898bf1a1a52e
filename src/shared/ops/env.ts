/** An environment such as process.env. */
export type Env = Readonly<Record<string, string | undefined>>
