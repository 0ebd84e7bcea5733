import {
  type ApiVersion,
  type Environment,
  type EventType,
  type JsonObject,
  PAYLOAD_VERSION_CONVERTER,
  type PayloadForm,
  type PayloadVersionConverter,
  type PublicAddresses,
  type PublishedEvent,
  type Timestamp,
  createEventSamples,
  createSandboxEventData,
  removeSnapshotsFromEventData,
} from '@tracking/contracts';

/** Version and form in which an event is rendered. */
export interface PayloadFormat {
  /** A version that {@link PayloadVersionConverter.choosePayloadVersion} returns for the event. */
  readonly version: ApiVersion;
  readonly form: PayloadForm;
}

/**
 * Renders the body for all deliveries of an event to endpoints with this payload version and form. The body is stored,
 * and every attempt sends the same bytes.
 */
export function renderDeliveryBody(
  event: PublishedEvent,
  { version, form }: PayloadFormat,
  sandbox = false,
  versions: PayloadVersionConverter = PAYLOAD_VERSION_CONVERTER,
): string {
  const { id, type, created_at, environment, workspace_id } = event;
  const envelope = { id, type, created_at, api_version: version, environment, workspace_id };
  const full = versions.downgradeEventData(event, version);
  const data = form === 'thin' ? removeSnapshotsFromEventData(full) : full;
  return JSON.stringify(sandbox ? { ...envelope, sandbox, data } : { ...envelope, data });
}

/**
 * Returns a body without snapshots (`payload: "thin"`), with the bytes that {@link renderDeliveryBody} returns for it.
 */
export function removeSnapshotsFromBody(body: string): string {
  const { data, ...envelope } = JSON.parse(body) as { readonly data: JsonObject };
  return JSON.stringify({ ...envelope, data: removeSnapshotsFromEventData(data) });
}

export interface SandboxEventContext {
  readonly id: string;
  readonly type: EventType;
  readonly at: Timestamp;
  /** Newest payload version. Events are created in this version. */
  readonly api_version: ApiVersion;
  readonly workspace_id: string;
  readonly environment: Environment;
  readonly addresses: PublicAddresses;
}

/** Creates a sandbox event: invented data in the shape of live events. */
export function createSandboxWebhookEvent({
  id,
  type,
  at,
  api_version,
  workspace_id,
  environment,
  addresses,
}: SandboxEventContext): PublishedEvent {
  const data = createSandboxEventData(type, createEventSamples(at, addresses, environment));
  return { id, type, created_at: at, api_version, environment, workspace_id, data };
}

/**
 * HMAC-SHA256 of the text `prefix` followed by the body. A parameter, because this package has no cryptography of its
 * own.
 */
export interface Signer {
  /** Signature with the whole `whsec_…` string as key, in lower-case hex. */
  readonly service: (prefix: string) => string;
  /** Signature with the base64-decoded bytes after `whsec_` as key, in base64. */
  readonly standard: (prefix: string) => string;
}

/**
 * Returns the signature headers: `Service-Signature`, `t=<unix seconds>,v1=<hex>` over `<t>.<raw body>`, and
 * the three headers of Standard Webhooks, over `<id>.<t>.<raw body>`. Both contain one signature for each valid secret,
 * so that receivers can switch while a secret is being rotated (docs/reference/delivery.md#signature).
 * @param id id of the event
 * @param atMs time of the request, in epoch milliseconds
 * @param signers one for each valid secret, newest first
 */
export function createSignatureHeaders(id: string, atMs: number, signers: readonly Signer[]) {
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

/** Maximum number of valid secrets of an endpoint. Each of them signs every request. */
export const MAX_VALID_SECRETS = 5;

/** Default time for which the old secret stays valid after a rotation. */
export const DEFAULT_SECRET_OVERLAP_SECONDS = 86_400;

/** Validity of a signing secret. */
export interface SecretValidity {
  readonly created_at: Timestamp;
  /** Time at which the secret stops signing; null or absent for the newest secret. */
  readonly expires_at: Timestamp | null;
}

/** Returns the secrets that are valid at this time. */
export function selectValidSecrets<S extends SecretValidity>(secrets: readonly S[], at: Timestamp): readonly S[] {
  return secrets.filter(({ expires_at }) => !expires_at || expires_at > at);
}

/**
 * Adds a fresh secret at the front. The other secrets expire at `overlapEnds` at the latest; only the newest {@link
 * MAX_VALID_SECRETS} are kept.
 */
export function addSigningSecret<S extends SecretValidity>(
  secrets: readonly S[],
  fresh: S,
  overlapEnds: Timestamp,
): readonly S[] {
  const former = selectValidSecrets(secrets, fresh.created_at).map((secret) => ({
    ...secret,
    expires_at: secret.expires_at && secret.expires_at < overlapEnds ? secret.expires_at : overlapEnds,
  }));
  return [fresh, ...selectValidSecrets(former, fresh.created_at)].slice(0, MAX_VALID_SECRETS);
}

/**
 * Returns true if a receiver's answer proves that it owns the endpoint: status 2xx, and a body with the token as plain
 * text, as a JSON string or as JSON `{"challenge": "<token>"}`. Surrounding white space is ignored. A token elsewhere
 * in the body is no proof, because a server that echoes requests would return it too.
 */
export function isOwnershipProven(statusCode: number, body: string, token: string): boolean {
  if (statusCode < 200 || statusCode > 299) return false;
  const text = body.trim();
  return text === token || parseChallengeToken(text) === token;
}

/** Parses the token of a JSON body. Many frameworks encode a returned string as JSON. */
function parseChallengeToken(text: string): unknown {
  try {
    const value = JSON.parse(text) as unknown;
    return typeof value === 'string' ? value : (value as { readonly challenge?: unknown } | null)?.challenge;
  } catch {
    return undefined;
  }
}
