import { createHash, timingSafeEqual } from 'node:crypto';
import { type Metadata, ServerInterceptingCall, type ServerInterceptor, status } from '@grpc/grpc-js';
import type { RequestOrigin } from '@tracking/ports';

export const DEFAULT_LIMITS: GrpcLimits = {
  maxCalls: 10_000,
  maxRequestBytes: 8 * 1_048_576,
  maxAnswerBytes: 64 * 1_048_576,
  keepaliveMs: 2_000,
  keepaliveTimeoutMs: 3_000,
  connectionAgeMs: 60_000,
  closeTimeoutMs: 15_000,
};
/** Room for the envelope of a request or response, and for escapes of its text in JSON. */
const ENVELOPE_BYTES = 65_536;
/** Metadata by which a caller makes itself known, and by which it names the request for which it calls. */
const AUTHORIZATION = 'authorization';
const REQUEST_ID = 'request-id';
const TRACEPARENT = 'traceparent';

/** PEM texts. */
export interface GrpcTls {
  /** Authority of the other end's certificate; without it, a channel trusts the system's authorities. */
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
}

/** With `ca`, callers need a certificate that it signed. */
export interface GrpcServerTls extends GrpcTls {
  readonly cert: string;
  readonly key: string;
}

/** Both ends need the same sizes. */
export interface GrpcLimits {
  /** Most calls under way, on each end; beyond, `Busy`. */
  readonly maxCalls: number;
  /** As JSON. The API takes bodies of 1 MiB: one fits, in whatever form. */
  readonly maxRequestBytes: number;
  /** As JSON. A shipment with all the milestones that it may have fits, and so does a page of events with theirs. */
  readonly maxAnswerBytes: number;
  /** A connection on which nothing was heard for so long is asked whether it lives. */
  readonly keepaliveMs: number;
  /** Without an answer to that it is given up, and its calls are repeated elsewhere. */
  readonly keepaliveTimeoutMs: number;
  /** After so long, ± 10 %, a server ends a connection, so that callers look for replicas again and spread over them. */
  readonly connectionAgeMs: number;
  /** From a server's `close` until what is still under way is left behind. */
  readonly closeTimeoutMs: number;
}

/** gRPC's own bounds stand a little beyond ours, which refuse in words. */
export function messageBytes({ maxRequestBytes, maxAnswerBytes }: GrpcLimits) {
  return { request: maxRequestBytes + ENVELOPE_BYTES, reply: maxAnswerBytes + ENVELOPE_BYTES };
}

export function keepaliveOf({ keepaliveMs, keepaliveTimeoutMs }: GrpcLimits) {
  return { keepaliveTimeMs: keepaliveMs, keepaliveTimeoutMs, keepalivePermitWithoutCalls: 1 };
}

const bearer = (token: string) => `Bearer ${token}`;

export function setToken(metadata: Metadata, token: string): void {
  metadata.set(AUTHORIZATION, bearer(token));
}

/** Turns away whoever does not know the token, before a request is read: of every operation, and of reflection. */
export function requiresToken(token: string): ServerInterceptor {
  const authorization = digest(bearer(token));
  return (_method, call) =>
    new ServerInterceptingCall(call, {
      start: (begin) =>
        begin({
          onReceiveMetadata(metadata, accept) {
            const [given = ''] = metadata.get(AUTHORIZATION);
            if (timingSafeEqual(digest(given), authorization)) accept(metadata);
            else call.sendStatus({ code: status.UNAUTHENTICATED, details: 'not a known caller' });
          },
        }),
    });
}

export function setOrigin(metadata: Metadata, { request_id, traceparent }: RequestOrigin): void {
  metadata.set(REQUEST_ID, request_id);
  metadata.set(TRACEPARENT, traceparent);
}

/** As far as the caller told. */
export function originIn(metadata: Metadata): Partial<RequestOrigin> {
  const [request_id] = metadata.get(REQUEST_ID);
  const [traceparent] = metadata.get(TRACEPARENT);
  return {
    ...(request_id !== undefined && { request_id: request_id.toString() }),
    ...(traceparent !== undefined && { traceparent: traceparent.toString() }),
  };
}

/** A digest has the same length for every text, so the duration of a comparison reveals neither. */
function digest(text: string | Buffer): Buffer {
  return createHash('sha256').update(text).digest();
}
