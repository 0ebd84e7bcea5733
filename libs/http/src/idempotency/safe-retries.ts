import type { RequestQuota } from '@tracking/ports';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { ErrorFilter } from '../errors/error-response.ts';
import { createInvalidRequestError, RequestError } from '../errors/request-error.ts';
import type { ReadYourWrites } from '../read-your-writes/read-your-writes.ts';
import { toClientNetworkPrefix, requireRequestQuota } from '../server/quota.ts';
import type { ClaimedRequest, IdempotencyClaim, IdempotencyClaims } from './idempotency-claims.ts';
import {
  captureResponseForStorage,
  replaceStatusAndHeaders,
  isStatusStoredForRepeats,
  type StoredResponse,
  clearResponseHeaders,
} from './stored-response.ts';

const IDEMPOTENCY_KEY_HEADER = 'Idempotency-Key';
const IDEMPOTENCY_KEY_PATTERN = /^[\x20-\x7e]{1,255}$/;

declare module 'fastify' {
  interface FastifyRequest {
    /** The claim of the request's `Idempotency-Key`, until the response. */
    claim: IdempotencyClaim | null;
    /**
     * True if every repeat gets this response. False if a repeat runs the command again, because a part of the command
     * failed on the server or because the response expires. A response that sets a cookie is never stored, so that a
     * repeat authenticates the caller again.
     */
    storesResponse: boolean;
    /** True if the request failed on the server before anything was changed. */
    failedBeforeChanges: boolean;
  }
}

/**
 * Requests per minute and network with an idempotency key but without credentials. The limit is low because each such
 * request stores a claim before its check.
 */
const MAX_ANONYMOUS_IDEMPOTENT_REQUESTS_PER_MINUTE = 60;

interface SafeRetriesDependencies {
  readonly claims: IdempotencyClaims;
  readonly errors: ErrorFilter;
  /** Owners of keys: credentials, limited by the quota (public API), or one owner for all keys (operators' API). */
  readonly keysOf:
    { readonly quota: RequestQuota; readonly readYourWrites: ReadYourWrites } | { readonly owner: string };
}

/**
 * Makes every POST with an `Idempotency-Key` safe to repeat: docs/reference/http.md#safe-retries. The claim is stored
 * after the body is read and before it is checked; the response is stored before it is sent.
 */
export function registerIdempotencyHooks(fastify: FastifyInstance, parts: SafeRetriesDependencies): void {
  const { keysOf, errors } = parts;
  fastify.decorateRequest('claim', null);
  fastify.decorateRequest('storesResponse', true);
  fastify.decorateRequest('failedBeforeChanges', false);
  fastify.addHook('preValidation', (request, reply, done) => {
    if (!usesIdempotencyKey(parts, request)) return void done();
    const isLimited = 'quota' in keysOf && request.principal === null;
    const admitted = isLimited ? admitAnonymousRequest(keysOf.quota, request) : Promise.resolve();
    admitted.then(() => beginIdempotentRequest(parts, request, reply)).then((shouldRun) => shouldRun && done(), done);
  });
  fastify.addHook('onSend', (request, reply, payload, done) => {
    const { claim } = request;
    request.claim = null;
    if (claim === null) {
      done(null, payload);
      return;
    }
    endIdempotencyClaim(parts, claim, reply, payload).then(
      (sent) => done(null, sent),
      // Send an error although the command is done: its response was not stored. A repeat gets the response.
      (error: unknown) => errors.sendErrorResponse(error, request, clearResponseHeaders(reply)),
    );
  });
}

/** @throws RequestError `rate_limited` */
async function admitAnonymousRequest(quota: RequestQuota, { ip }: FastifyRequest): Promise<void> {
  const refusal = `The limit of ${MAX_ANONYMOUS_IDEMPOTENT_REQUESTS_PER_MINUTE} requests per minute with an ${IDEMPOTENCY_KEY_HEADER} and without credentials is exceeded.`;
  await requireRequestQuota(
    quota,
    `idempotency:address:${toClientNetworkPrefix(ip)}`,
    MAX_ANONYMOUS_IDEMPOTENT_REQUESTS_PER_MINUTE,
    refusal,
  );
}

/** Returns true if the handler should run. Returns false if the response is already sent. */
async function beginIdempotentRequest(
  parts: SafeRetriesDependencies,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<boolean> {
  const taking = await parts.claims.claimIdempotencyKey(readIdempotencyClaimOfRequest(parts, request));
  switch (taking.kind) {
    case 'taken': {
      const { command_id, at } = taking.claim;
      request.claim = taking.claim;
      request.commandIdentity = { id: command_id, at };
      return true;
    }
    case 'answered':
      await applyStoredResponseToReply(parts, reply, taking.answer);
      reply.send(taking.answer.body);
      return false;
    case 'reused':
      throw new RequestError(
        'idempotency_key_reused',
        `The ${IDEMPOTENCY_KEY_HEADER} was used before with another path or body.`,
      );
    case 'in_progress':
      throw createRequestInProgressError();
  }
}

/** Ends the claim according to the response. Returns the body to send. */
async function endIdempotencyClaim(
  parts: SafeRetriesDependencies,
  claim: IdempotencyClaim,
  reply: FastifyReply,
  payload: unknown,
): Promise<unknown> {
  const { claims } = parts;
  const { statusCode, request } = reply;
  if (statusCode >= 500 || !request.storesResponse || reply.hasHeader('set-cookie')) {
    // Ignore a failed release: the claim then expires like the claim of a dead process.
    await claims.releaseIdempotencyClaim(claim, request.failedBeforeChanges).catch(() => undefined);
    return payload;
  }
  // Do not store refusals of requests without credentials, because unauthenticated callers could fill the store.
  const isAnonymous = 'quota' in parts.keysOf && request.principal === null;
  if (!isStatusStoredForRepeats(statusCode) || (isAnonymous && statusCode >= 300)) {
    await claims.deleteIdempotencyClaim(claim);
    return payload;
  }
  const answer = captureResponseForStorage(reply, payload);
  const kept = await claims.storeResponseOfClaim(claim, answer);
  if (kept === answer) return payload;
  if (kept === undefined) throw createRequestInProgressError();
  await applyStoredResponseToReply(parts, reply, kept);
  return kept.body;
}

/**
 * Applies the status and headers of the stored response to the reply. The consistency token is at least the one that
 * the client knows.
 */
async function applyStoredResponseToReply(
  { keysOf }: SafeRetriesDependencies,
  reply: FastifyReply,
  answer: StoredResponse,
): Promise<void> {
  replaceStatusAndHeaders(reply, answer);
  const token = answer.headers['consistency-token'];
  if (typeof token === 'string' && 'quota' in keysOf)
    await keysOf.readYourWrites.addConsistencyTokenToRepeatedWriteResponse(reply, token);
}

function createRequestInProgressError(): RequestError {
  const message = `The first request with this ${IDEMPOTENCY_KEY_HEADER} is still in progress; try again.`;
  return new RequestError('idempotency_in_progress', message, [], { 'Retry-After': '1' });
}

/** Returns true for a POST with a key. Requests with other methods are safe to repeat without a key. */
function usesIdempotencyKey(
  { keysOf }: SafeRetriesDependencies,
  { method, headers, routeOptions, is404 }: FastifyRequest,
): boolean {
  if (method !== 'POST' || headers['idempotency-key'] === undefined) return false;
  return 'owner' in keysOf ? !is404 : routeOptions.config.operation !== undefined;
}

/**
 * Reads the claim of a request, after its body is read and its principal is known. The scope includes the environment,
 * because a session chooses the environment for each request. Without credentials, the scope is the content and the
 * environment, so that no caller gets the response to another request.
 * @throws RequestError `validation_failed`
 */
function readIdempotencyClaimOfRequest(
  { keysOf }: SafeRetriesDependencies,
  { method, url, body, headers, raw, principal }: FastifyRequest,
): ClaimedRequest {
  // Refuse two headers: Node would join them into one key that a repeat with one header does not match.
  const [key = '', ...more] = raw.headersDistinct['idempotency-key'] ?? [];
  if (more.length > 0 || !IDEMPOTENCY_KEY_PATTERN.test(key)) {
    const message = `${IDEMPOTENCY_KEY_HEADER} must be sent once, with 1 to 255 printable ASCII characters.`;
    throw createInvalidRequestError([{ param: IDEMPOTENCY_KEY_HEADER, code: 'invalid_value', message }]);
  }
  const content = serializeRequestContent([method, url, body]);
  if ('owner' in keysOf) return { scope: [keysOf.owner], key, content, permissions: [] };
  const scope = principal
    ? [principal.credential_id, principal.environment]
    : [content, String(headers['environment'] ?? '')];
  return { scope, key, content, permissions: [...(principal?.permissions ?? [])] };
}

/** @throws RequestError `validation_failed` if the body is nested more deeply than the stack allows */
function serializeRequestContent(content: unknown): string {
  try {
    return JSON.stringify(content);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new RequestError(
      'validation_failed',
      `The body is nested too deeply for a request with an ${IDEMPOTENCY_KEY_HEADER}.`,
    );
  }
}
