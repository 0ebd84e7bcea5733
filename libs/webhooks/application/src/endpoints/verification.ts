import { randomBytes, randomUUID } from 'node:crypto';
import type { Timestamp } from '@tracking/contracts';
import type { Clock, OutboundHttp } from '@tracking/ports';
import { type RequestOrigin, type Verification, answersChallenge, judge } from '@tracking/webhooks-domain';
import { attemptTraceparent } from '../tracing.ts';
import type { EndpointClient } from './endpoint-clients.ts';

const TYPE = 'endpoint.verification';
/** Characters of a wrong answer that are told. */
const SHOWN = 100;

export interface ChallengeOptions {
  readonly outbound: OutboundHttp;
  readonly timeoutMs: number;
  readonly clock: Clock;
  /** The request that asked for it. */
  readonly origin: RequestOrigin | undefined;
}

/** Sends a challenge to the endpoint and judges the answer. The token lives no longer than the request. */
export async function challenge(
  client: EndpointClient,
  { outbound, timeoutMs, clock, origin }: ChallengeOptions,
): Promise<Verification> {
  const token = randomBytes(24).toString('base64url');
  const id = `evt_${randomUUID()}`;
  const now = clock();
  const at: Timestamp = now.toISOString();
  const event = {
    id,
    type: TYPE,
    created_at: at,
    api_version: client.endpoint.api_version,
    data: { challenge: token },
  };
  const body = Buffer.from(JSON.stringify(event));
  const attempted = { id, type: TYPE, traceparent: attemptTraceparent({ event_id: id, origin }) };
  const answer = await outbound.post(client.request(attempted, body, now.getTime(), timeoutMs));
  if (answer.kind === 'failure') return failed(at, answer.code, answer.message);
  if (answersChallenge(answer.statusCode, answer.body, token)) return { at, ok: true, error: null };
  const outcome = judge({ kind: 'response', statusCode: answer.statusCode }, now.getTime());
  if (outcome.kind !== 'success') return failed(at, outcome.error.code, outcome.error.message);
  return failed(at, 'challenge_mismatch', mismatch(answer.statusCode, answer.body));
}

function mismatch(status: number, body: string): string {
  const came = body === '' ? 'nothing' : JSON.stringify(body.length > SHOWN ? `${body.slice(0, SHOWN)}…` : body);
  return `The endpoint answered ${status} with ${came}, not with the token of data.challenge.`;
}

function failed(at: Timestamp, code: string, message: string): Verification {
  return { at, ok: false, error: { code, message } };
}
