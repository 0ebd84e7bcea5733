/** Lowercase hex HMAC-SHA256 of the text `prefix` followed by the body. This package has no cryptography of its own. */
export type Hmac = (prefix: string) => string;

/**
 * The value of `Service-Signature`: `t=<unix seconds>,v1=<hex>`, with one `v1` for each secret that is valid now, so that
 * receivers may change over while a secret is being rolled. Signed is `<t>.<raw body>` (docs/reference/delivery.md#signature).
 * @param atMs when the request is made, in epoch milliseconds
 * @param hmacs one for each valid secret, the newest first; each keyed with the whole `whsec_…` string
 */
export function signatureHeader(atMs: number, hmacs: readonly Hmac[]): string {
  const timestamp = Math.floor(atMs / 1000);
  return hmacs.reduce((header, hmac) => `${header},v1=${hmac(`${timestamp}.`)}`, `t=${timestamp}`);
}
