import type { Client } from './client.ts'

/** The user name that the API server knows us by (a SelfSubjectReview). */
export async function whoAmI(client: Client): Promise<string> {
  const { body } = await client.send('/apis/authentication.k8s.io/v1/selfsubjectreviews', {
    method: 'POST',
    body: { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' },
  })
  return (body as { status: { userInfo: { username: string } } }).status.userInfo.username
}
