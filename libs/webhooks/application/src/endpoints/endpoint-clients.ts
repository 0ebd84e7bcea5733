import { randomBytes, randomUUID } from 'node:crypto';
import { DomainError, type Timestamp } from '@tracking/contracts';
import type { Clock, EventStore, Logger, OutboundHttp, OutboundRequest } from '@tracking/ports';
import {
  HEADER_VALUE_MASK,
  type CausingRequest,
  type EndpointVerificationResult,
  isOwnershipProven,
  disableEndpoint,
  determineAttemptOutcome,
  createSignatureHeaders,
} from '@tracking/webhooks-domain';
import { LRUCache } from 'lru-cache';
import { createAttemptTraceparent } from '../tracing.ts';
import { type EndpointDocument, isEndpointUrlUnchangedBetween } from './endpoint-document.ts';
import { type EndpointStore, readLogHeadForEndpointChange } from './endpoint-store.ts';
import {
  type SecretBox,
  type KeysDerivedFromSigningSecret,
  createWebhookBodySigner,
  decryptHeaders,
  openSecret,
  openSigningKeys,
} from './secrets.ts';

/** Event fields that an attempt sends as request headers. */
interface EventHeaderFields {
  readonly id: string;
  readonly type: string;
  /** W3C trace context (`traceparent`) of this attempt. */
  readonly traceparent: string;
}

/** Builds the signed requests to an endpoint. The first request decrypts the endpoint's secrets and headers. */
export class EndpointRequestBuilder {
  private opened:
    | { readonly keys: readonly KeysDerivedFromSigningSecret[]; readonly headers: Readonly<Record<string, string>> }
    | undefined;

  constructor(
    readonly endpoint: EndpointDocument,
    private readonly box: SecretBox,
  ) {}

  /**
   * Builds the request of one attempt, signed with the secrets that are valid at that time.
   * @param at time of the attempt, in epoch milliseconds
   * @throws Error if the stored secrets cannot be decrypted
   */
  buildDeliveryRequest(event: EventHeaderFields, body: Uint8Array, at: number, timeoutMs: number) {
    const { keys, headers: own } = (this.opened ??= this.decryptSecretsAndHeaders());
    const signers = keys.filter(({ expiresAt }) => at < expiresAt).map((key) => createWebhookBodySigner(key, body));
    const headers = {
      ...own,
      'content-type': 'application/json',
      ...createSignatureHeaders(event.id, at, signers),
      'service-event-id': event.id,
      'service-event-type': event.type,
      traceparent: event.traceparent,
    };
    return { url: this.endpoint.url, headers, body, timeoutMs } satisfies OutboundRequest;
  }

  /** Returns the values of custom headers and the signing secrets. */
  listDecryptedEndpointSecrets(): readonly string[] {
    const { id, secrets } = this.endpoint;
    const opened = secrets.map((secret) => openSecret(this.box, id, secret));
    return [...Object.values(decryptHeaders(this.box, this.endpoint)), ...opened];
  }

  private decryptSecretsAndHeaders() {
    const { id, secrets } = this.endpoint;
    const keys = secrets.map((secret) => openSigningKeys(this.box, id, secret));
    return { keys, headers: decryptHeaders(this.box, this.endpoint) };
  }
}

const MAX_ENDPOINTS_WITH_CACHED_CLIENT = 5_000;

/** Cache of endpoint clients, one for each endpoint in its newest known revision. */
export class EndpointClients {
  private readonly clients = new LRUCache<string, { readonly client: EndpointRequestBuilder; readonly readAt: number }>(
    {
      max: MAX_ENDPOINTS_WITH_CACHED_CLIENT,
    },
  );

  constructor(
    private readonly store: EndpointStore,
    private readonly box: SecretBox,
    private readonly freshnessMs: number,
  ) {}

  /**
   * Caches an endpoint. Returns the client of its newest known revision.
   * @param readAt time at which the endpoint was read or written, on the process's monotonic clock
   */
  cacheEndpoint(endpoint: EndpointDocument, readAt = performance.now()): EndpointRequestBuilder {
    const known = this.clients.get(endpoint.id);
    if (known !== undefined && known.client.endpoint.revision > endpoint.revision) return known.client;
    const isSame = known?.client.endpoint.revision === endpoint.revision;
    const client = isSame ? known.client : new EndpointRequestBuilder(endpoint, this.box);
    this.clients.set(endpoint.id, { client, readAt: isSame ? Math.max(known.readAt, readAt) : readAt });
    return client;
  }

  /** Returns the cached client if it is fresh enough to send with; otherwise undefined. */
  getCachedEndpointClientIfFresh(endpointId: string): EndpointRequestBuilder | undefined {
    const known = this.clients.get(endpointId);
    return known !== undefined && performance.now() - known.readAt <= this.freshnessMs ? known.client : undefined;
  }

  /** Reads the endpoint and returns its client; undefined if the endpoint is not stored. */
  async readEndpointAndCacheClient(endpointId: string): Promise<EndpointRequestBuilder | undefined> {
    const readAt = performance.now();
    const endpoint = await this.store.getEndpoint(endpointId);
    return endpoint === undefined ? undefined : this.cacheEndpoint(endpoint, readAt);
  }
}

export interface GoneEndpointDisablerDependencies {
  readonly store: EndpointStore;
  readonly clients: EndpointClients;
  readonly eventStore: Pick<EventStore, 'head'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Disables endpoints that answered 410. */
export class GoneEndpointDisabler {
  constructor(private readonly dependencies: GoneEndpointDisablerDependencies) {}

  /**
   * Disables the endpoint. Does nothing if the URL was changed or the endpoint was deleted since the 410. Returns the
   * endpoint as stored afterwards.
   * @throws UnavailableError
   */
  async disableEndpoint(gone: EndpointDocument): Promise<EndpointDocument> {
    const { store, clients, eventStore, clock, logger } = this.dependencies;
    const { id, workspace_id: workspace } = gone;
    const at = clock().toISOString();
    let isDisabling = false;
    try {
      const endpoint = await store.updateEndpoint(id, at, async (now) => {
        isDisabling = isEndpointUrlUnchangedBetween(now, gone) && now.status !== 'disabled';
        return isDisabling ? disableEndpoint(now, 'gone', await readLogHeadForEndpointChange(eventStore, at)) : now;
      });
      if (isDisabling) logger.info({ endpoint: id, workspace }, 'webhooks: disabled an endpoint that answered 410');
      return clients.cacheEndpoint(endpoint).endpoint;
    } catch (error) {
      const deleted = error instanceof DomainError ? await store.getEndpoint(id) : undefined;
      if (deleted === undefined) throw error;
      return clients.cacheEndpoint(deleted).endpoint;
    }
  }
}

const CHALLENGE_EVENT_TYPE = 'endpoint.verification';
/** Maximum number of characters of a wrong answer in the error message. */
const MAX_SHOWN_ANSWER_CHARS = 200;
/** Minimum length of a header's value that is masked in an answer. A shorter one is no secret. */
const MIN_LENGTH_OF_MASKED_VALUE = 4;

interface EndpointChallengeOptions {
  readonly outbound: OutboundHttp;
  readonly timeoutMs: number;
  readonly clock: Clock;
  /** Client request that caused the challenge. */
  readonly origin: CausingRequest | undefined;
}

/** Sends a challenge to the endpoint and judges the answer. The token is not stored. */
export async function sendOwnershipChallenge(
  client: EndpointRequestBuilder,
  { outbound, timeoutMs, clock, origin }: EndpointChallengeOptions,
): Promise<EndpointVerificationResult> {
  const token = randomBytes(24).toString('base64url');
  const id = `evt_${randomUUID()}`;
  const now = clock();
  const at: Timestamp = now.toISOString();
  const event = {
    id,
    type: CHALLENGE_EVENT_TYPE,
    created_at: at,
    api_version: client.endpoint.api_version,
    data: { challenge: token },
  };
  const body = Buffer.from(JSON.stringify(event));
  const attempted = { id, type: CHALLENGE_EVENT_TYPE, traceparent: createAttemptTraceparent({ event_id: id, origin }) };
  const answer = await outbound.post(client.buildDeliveryRequest(attempted, body, now.getTime(), timeoutMs));
  if (answer.kind === 'failure') return buildFailedEndpointVerificationResult(at, answer.code, answer.message);
  if (isOwnershipProven(answer.statusCode, answer.body, token)) return { at, ok: true, error: null };
  const outcome = determineAttemptOutcome({ kind: 'response', statusCode: answer.statusCode }, now.getTime());
  const answered = quoteResponseBodyForError(answer.body, [token, ...client.listDecryptedEndpointSecrets()]);
  if (outcome.kind !== 'success') {
    const { code, message } = outcome.error;
    return buildFailedEndpointVerificationResult(
      at,
      code,
      `${message} The answer has ${answered === 'an empty body' ? answered : `the body ${answered}`}.`,
    );
  }
  const message = `The endpoint answered ${answer.statusCode} with ${answered} instead of the token in data.challenge.`;
  return buildFailedEndpointVerificationResult(at, 'challenge_mismatch', message);
}

/**
 * Returns the beginning of an answer for an error message: in one line, without control characters, and with the
 * secrets masked that the receiver may have repeated from the request.
 */
function quoteResponseBodyForError(body: string, secrets: readonly string[]): string {
  const masked = secrets
    .flatMap(listEncodedFormsOfSecret)
    .filter(({ length }) => length >= MIN_LENGTH_OF_MASKED_VALUE)
    // The longest first, because a secret may contain another one.
    .sort((one, other) => other.length - one.length)
    .reduce((text, secret) => text.replaceAll(secret, HEADER_VALUE_MASK), body);
  const line = [...masked.replaceAll(/[\p{C}\p{Z}]+/gu, ' ').trim()];
  if (line.length === 0) return 'an empty body';
  return JSON.stringify(
    line.length > MAX_SHOWN_ANSWER_CHARS ? `${line.slice(0, MAX_SHOWN_ANSWER_CHARS).join('')}…` : line.join(''),
  );
}

/** Returns the forms in which receivers repeat a secret: as sent, without its scheme or prefix, decoded, and escaped. */
function listEncodedFormsOfSecret(secret: string): readonly string[] {
  const bare = secret.replace(/^(?:\S+\s+|whsec_)/, '');
  const user = /^basic\s/i.test(secret) ? Buffer.from(bare, 'base64').toString() : '';
  const password = user.slice(user.indexOf(':') + 1);
  return [secret, bare, user, password].flatMap((form) => [
    form,
    JSON.stringify(form).slice(1, -1),
    encodeURIComponent(form.toWellFormed()),
  ]);
}

function buildFailedEndpointVerificationResult(
  at: Timestamp,
  code: string,
  message: string,
): EndpointVerificationResult {
  return { at, ok: false, error: { code, message } };
}
