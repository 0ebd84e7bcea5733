import type { Quota } from '@tracking/ports';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { ErrorFilter } from '../errors/error-answer.ts';
import { invalidRequest, RequestError } from '../errors/request-error.ts';
import type { ReadYourWrites } from '../read-your-writes/read-your-writes.ts';
import { networkOf, withinQuota } from '../server/quota.ts';
import type { ClaimedRequest, IdempotencyClaim, IdempotencyClaims } from './idempotency-claims.ts';
import { answerOf, giveAnswer, isKept, type StoredAnswer, withoutAnswer } from './stored-answer.ts';

const HEADER = 'Idempotency-Key';
const KEY_FORM = /^[\x20-\x7e]{1,255}$/;

declare module 'fastify' {
  interface FastifyRequest {
    /** What it carries out under an `Idempotency-Key`, until it is answered. */
    claim: IdempotencyClaim | null;
    /**
     * Its answer is the one of every repeat. False if a repeat carries the command out again: some of it failed on
     * our side, whatever the status of the whole, or the answer expires.
     */
    keepsAnswer: boolean;
    /** Whether it failed on our side before anything was done. */
    isUndone: boolean;
  }
}

/** Requests within a minute of those who show no credentials, from one address: each is written down before it is looked at. */
const STRANGERS_PER_MINUTE = 60;

interface SafeRetriesParts {
  readonly claims: IdempotencyClaims;
  readonly quota: Quota;
  readonly errors: ErrorFilter;
  readonly readYourWrites: ReadYourWrites;
}

/**
 * Makes every POST of the API safe to send twice, where its client names it by an `Idempotency-Key`:
 * docs/reference/http.md#safe-retries. The claim is kept after the body was read and before anything looks at it; the
 * answer is stored before it is sent.
 */
export function makeRetriesSafe(fastify: FastifyInstance, parts: SafeRetriesParts): void {
  const { quota, errors } = parts;
  fastify.decorateRequest('claim', null);
  fastify.decorateRequest('keepsAnswer', true);
  fastify.decorateRequest('isUndone', false);
  fastify.addHook('preValidation', (request, reply, done) => {
    if (!isClaimed(request)) return void done();
    const admitted = request.principal === null ? admitStranger(quota, request) : Promise.resolve();
    admitted.then(() => begin(parts, request, reply)).then((goesOn) => goesOn && done(), done);
  });
  fastify.addHook('onSend', (request, reply, payload, done) => {
    const { claim } = request;
    request.claim = null;
    if (claim === null) {
      done(null, payload);
      return;
    }
    end(parts, claim, reply, payload).then(
      (sent) => done(null, sent),
      // What is done stays done, and is not told: a repeat finds it.
      (error: unknown) => errors.answer(error, request, withoutAnswer(reply)),
    );
  });
}

/** @throws RequestError `rate_limited` */
async function admitStranger(quota: Quota, { ip }: FastifyRequest): Promise<void> {
  const refusal = `More than ${STRANGERS_PER_MINUTE} requests with an ${HEADER} and no credentials within a minute.`;
  await withinQuota(quota, `idempotency:address:${networkOf(ip)}`, STRANGERS_PER_MINUTE, refusal);
}

/** Answers whether the request goes on; where not, it is answered. */
async function begin(parts: SafeRetriesParts, request: FastifyRequest, reply: FastifyReply): Promise<boolean> {
  const taking = await parts.claims.take(claimedRequest(request));
  switch (taking.kind) {
    case 'taken': {
      const { command_id, at } = taking.claim;
      request.claim = taking.claim;
      request.commandIdentity = { id: command_id, at };
      return true;
    }
    case 'answered':
      await replay(parts, reply, taking.answer);
      reply.send(taking.answer.body);
      return false;
    case 'reused':
      throw new RequestError('idempotency_key_reused', `The ${HEADER} was sent before with another path or body.`);
    case 'in_progress':
      throw inProgress();
  }
}

/** Ends the claim as its answer says; answers the body to send. */
async function end(
  parts: SafeRetriesParts,
  claim: IdempotencyClaim,
  reply: FastifyReply,
  payload: unknown,
): Promise<unknown> {
  const { claims } = parts;
  const { statusCode, request } = reply;
  if (statusCode >= 500 || !request.keepsAnswer) {
    // Where not even that can be stored, the claim counts as a dead one's.
    await claims.release(claim, request.isUndone).catch(() => undefined);
    return payload;
  }
  // Strangers could fill the store with refusals.
  const isStranger = request.principal === null;
  if (!isKept(statusCode) || (isStranger && statusCode >= 300)) {
    await claims.forget(claim);
    return payload;
  }
  const answer = answerOf(reply, payload);
  const kept = await claims.keep(claim, answer);
  if (kept === answer) return payload;
  if (kept === undefined) throw inProgress();
  await replay(parts, reply, kept);
  return kept.body;
}

/** Makes the reply the stored answer; its body is left to send. Its token is not less than what the client knows by now. */
async function replay({ readYourWrites }: SafeRetriesParts, reply: FastifyReply, answer: StoredAnswer): Promise<void> {
  giveAnswer(reply, answer);
  const token = answer.headers['consistency-token'];
  if (typeof token === 'string') await readYourWrites.wroteBefore(reply, token);
}

function inProgress(): RequestError {
  const message = `The first request with this ${HEADER} is under way; try again.`;
  return new RequestError('idempotency_in_progress', message, [], { 'Retry-After': '1' });
}

/** Whether its client wants to be able to repeat it. Methods other than POST are safe to repeat as they are. */
function isClaimed({ method, headers, routeOptions }: FastifyRequest): boolean {
  return method === 'POST' && headers['idempotency-key'] !== undefined && routeOptions.config.operation !== undefined;
}

/**
 * After the body was read and the principal is known. A session says the environment with each request, so it is in the
 * scope. What needs no credentials is known by what it says, and for which environment, so that nobody gets the answer to
 * another one's request.
 * @throws RequestError `validation_failed`
 */
function claimedRequest({ method, url, body, headers, raw, principal }: FastifyRequest): ClaimedRequest {
  // Two headers would be one key, and another one where a repeat has a single one.
  const [key = '', ...more] = raw.headersDistinct['idempotency-key'] ?? [];
  if (more.length > 0 || !KEY_FORM.test(key)) {
    const message = `${HEADER} must be one, of 1 to 255 printable ASCII characters.`;
    throw invalidRequest([{ param: HEADER, code: 'invalid_value', message }]);
  }
  const content = textOf([method, url, body]);
  const scope = principal
    ? [principal.credential_id, principal.environment]
    : [content, String(headers['environment'] ?? '')];
  return { scope, key, content };
}

/** @throws RequestError `validation_failed` where it is nested more deeply than the stack holds: JSON is read without one */
function textOf(content: unknown): string {
  try {
    return JSON.stringify(content);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new RequestError('validation_failed', `The body is nested too deeply for a request with an ${HEADER}.`);
  }
}
