import {
  type ApiVersion,
  type Environment,
  type EventType,
  PAYLOAD_VERSIONS,
  type PayloadVersions,
  type PublicAddresses,
  type PublishedEvent,
  type Timestamp,
  eventSamples,
  sandboxData,
} from '@tracking/contracts';

/**
 * The body of every delivery of this event to endpoints of this payload version. Made once, stored, and sent as the same
 * bytes at each attempt.
 * @param apiVersion one that {@link PayloadVersions.versionFor} returns for the event
 */
export function renderBody(
  event: PublishedEvent,
  apiVersion: ApiVersion,
  sandbox = false,
  versions: PayloadVersions = PAYLOAD_VERSIONS,
): string {
  const { id, type, created_at, environment, workspace_id } = event;
  const envelope = { id, type, created_at, api_version: apiVersion, environment, workspace_id };
  const data = versions.dataInVersion(event, apiVersion);
  return JSON.stringify(sandbox ? { ...envelope, sandbox, data } : { ...envelope, data });
}

export interface SandboxContext {
  readonly id: string;
  readonly type: EventType;
  readonly at: Timestamp;
  /** The newest version, in which events are made. */
  readonly api_version: ApiVersion;
  readonly workspace_id: string;
  readonly environment: Environment;
  readonly addresses: PublicAddresses;
}

/** An event with invented data in the shape of live ones. */
export function createSandboxEvent({
  id,
  type,
  at,
  api_version,
  workspace_id,
  environment,
  addresses,
}: SandboxContext): PublishedEvent {
  const data = sandboxData(type, eventSamples(at, addresses, environment));
  return { id, type, created_at: at, api_version, environment, workspace_id, data };
}

/** HMAC-SHA256 of the text `prefix` followed by the body. This package has no cryptography of its own. */
export interface Signer {
  /** Keyed with the whole `whsec_…` string; in lower-case hex. */
  readonly service: (prefix: string) => string;
  /** Keyed with the bytes that follow `whsec_` in base64; in base64. */
  readonly standard: (prefix: string) => string;
}

/**
 * The headers that sign a request: `Service-Signature`, `t=<unix seconds>,v1=<hex>` over `<t>.<raw body>`, and the three
 * headers of Standard Webhooks, over `<id>.<t>.<raw body>`. Both have one signature for each secret that is valid now, so
 * that receivers can change over while a secret is being rotated (docs/reference/delivery.md#signature).
 * @param id of the event
 * @param atMs when the request is made, in epoch milliseconds
 * @param signers one for each valid secret, the newest first
 */
export function signatureHeaders(id: string, atMs: number, signers: readonly Signer[]) {
  const timestamp = String(Math.floor(atMs / 1000));
  const service = signers.map((signer) => `,v1=${signer.service(`${timestamp}.`)}`);
  const standard = signers.map((signer) => `v1,${signer.standard(`${id}.${timestamp}.`)}`);
  return {
    'service-signature': `t=${timestamp}${service.join('')}`,
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': standard.join(' '),
  };
}

/** Most valid secrets of an endpoint: each of them signs every request. */
export const MAX_VALID_SECRETS = 5;

/** How long the old secret stays valid beside a new one by default. */
export const DEFAULT_OVERLAP_SECONDS = 86_400;

/** When a signing secret is valid. */
export interface SecretValidity {
  readonly created_at: Timestamp;
  /** From then on it signs nothing; null or absent for the newest. */
  readonly expires_at: Timestamp | null;
}

/** The secrets that sign at this moment. */
export function validSecrets<S extends SecretValidity>(secrets: readonly S[], at: Timestamp): readonly S[] {
  return secrets.filter(({ expires_at }) => !expires_at || expires_at > at);
}

/**
 * Puts a fresh secret before the present ones, the newest first. The others stay valid until the overlap ends, each no
 * longer than it was; of more than {@link MAX_VALID_SECRETS} the newest are kept.
 */
export function addSecret<S extends SecretValidity>(
  secrets: readonly S[],
  fresh: S,
  overlapEnds: Timestamp,
): readonly S[] {
  const former = validSecrets(secrets, fresh.created_at).map((secret) => ({
    ...secret,
    expires_at: secret.expires_at && secret.expires_at < overlapEnds ? secret.expires_at : overlapEnds,
  }));
  return [fresh, ...validSecrets(former, fresh.created_at)].slice(0, MAX_VALID_SECRETS);
}

/**
 * Returns true if a receiver's answer proves that it owns the endpoint: 2xx, with the token as plain text, as a JSON string
 * or as JSON `{"challenge": "<token>"}`. White space around it does no harm. A body that holds the token elsewhere is no
 * proof: a server that echoes requests would answer so.
 */
export function provesOwnership(statusCode: number, body: string, token: string): boolean {
  if (statusCode < 200 || statusCode > 299) return false;
  const text = body.trim();
  return text === token || parseChallengeToken(text) === token;
}

/** Many frameworks write a string that is returned as JSON. */
function parseChallengeToken(text: string): unknown {
  try {
    const value = JSON.parse(text) as unknown;
    return typeof value === 'string' ? value : (value as { readonly challenge?: unknown } | null)?.challenge;
  } catch {
    return undefined;
  }
}
