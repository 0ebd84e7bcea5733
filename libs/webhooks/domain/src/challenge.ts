/**
 * Whether a receiver's answer proves that it owns the endpoint: 2xx, with the token as plain text or as JSON
 * `{"challenge": "<token>"}`. White space around it does no harm.
 */
export function answersChallenge(statusCode: number, body: string, token: string): boolean {
  if (statusCode < 200 || statusCode > 299) return false;
  const text = body.trim();
  return text === token || challengeOf(text) === token;
}

function challengeOf(text: string): unknown {
  if (!text.startsWith('{')) return undefined;
  try {
    return (JSON.parse(text) as { readonly challenge?: unknown }).challenge;
  } catch {
    return undefined;
  }
}
