/** HMAC-SHA256 of the text `prefix` followed by the body. This package has no cryptography of its own. */
export interface Signer {
  /** Keyed with the whole `whsec_…` string; in lower-case hex. */
  readonly service: (prefix: string) => string;
  /** Keyed with the bytes that stand in base64 behind `whsec_`; in base64. */
  readonly standard: (prefix: string) => string;
}

/**
 * What signs a request: `Service-Signature`, `t=<unix seconds>,v1=<hex>` over `<t>.<raw body>`, and the three headers of
 * Standard Webhooks, over `<id>.<t>.<raw body>`. In both there is one signature for each secret that is valid now, so that
 * receivers may change over while a secret is being rotated (docs/reference/delivery.md#signature).
 * @param id of the event
 * @param atMs when the request is made, in epoch milliseconds
 * @param signers one for each valid secret, the newest first
 */
export function signatureHeaders(id: string, atMs: number, signers: readonly Signer[]) {
  const timestamp = String(Math.floor(atMs / 1000));
  const ours = signers.map(({ service }) => `,v1=${service(`${timestamp}.`)}`);
  const standard = signers.map((signer) => `v1,${signer.standard(`${id}.${timestamp}.`)}`);
  return {
    'service-signature': `t=${timestamp}${ours.join('')}`,
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': standard.join(' '),
  };
}
