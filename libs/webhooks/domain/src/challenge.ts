/**
 * Whether a receiver's answer proves that it owns the endpoint: 2xx, with the token as plain text, as a JSON string or as JSON
 * `{"challenge": "<token>"}`. White space around it does no harm. A body that holds the token elsewhere is no proof: whatever
 * echoes requests would answer so.
 */
export function answersChallenge(statusCode: number, body: string, token: string): boolean {
  if (statusCode < 200 || statusCode > 299) return false;
  const text = body.trim();
  return text === token || tokenIn(text) === token;
}

/** Many frameworks write a string that is returned as JSON. */
function tokenIn(text: string): unknown {
  try {
    const value = JSON.parse(text) as unknown;
    return typeof value === 'string' ? value : (value as { readonly challenge?: unknown } | null)?.challenge;
  } catch {
    return undefined;
  }
}
