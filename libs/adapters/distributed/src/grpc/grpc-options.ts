import { createHash, timingSafeEqual } from 'node:crypto';
import { type Metadata, ServerInterceptingCall, type ServerInterceptor, status } from '@grpc/grpc-js';
import type { CausingRequest } from '@tracking/ports';

export const DEFAULT_GRPC_LIMITS: GrpcLimits = {
  maxCalls: 10_000,
  maxRunningBytes: 64 * 1_048_576,
  maxRequestBytes: 8 * 1_048_576,
  maxAnswerBytes: 64 * 1_048_576,
  keepaliveMs: 2_000,
  keepaliveTimeoutMs: 3_000,
  connectionAgeMs: 60_000,
  closeTimeoutMs: 15_000,
};
/** Bytes that a message may need for its envelope and for JSON escapes, in addition to the size limit. */
const MAX_ENVELOPE_BYTES = 65_536;
const GRPC_AUTHORIZATION_METADATA_KEY = 'authorization';
const REQUEST_ID_KEY = 'request-id';
const TRACEPARENT_KEY = 'traceparent';

/** Certificates and keys of a connection, as PEM texts. */
export interface GrpcClientTls {
  /** Certificate authority of the peer. If it is absent, a channel trusts the certificate authorities of the system. */
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  /** Host name that the peer's certificate must have, instead of that of the called address. */
  readonly serverName?: string;
}

/** Server certificate and its private key. If `ca` is set, callers need a certificate signed by this authority. */
export interface GrpcServerTls extends GrpcClientTls {
  readonly cert: string;
  readonly key: string;
}

/** Limits of calls. Client and server need the same sizes. */
export interface GrpcLimits {
  /** Maximum number of concurrent calls of a client and of a server. Further calls throw `BusyError`. */
  readonly maxCalls: number;
  /**
   * Maximum bytes of the requests of concurrent calls, as JSON. Further calls throw `BusyError`. One call may exceed
   * it.
   */
  readonly maxRunningBytes: number;
  /** Maximum size of a request in bytes of JSON. A body of the API of 1 MiB fits in any encoding. */
  readonly maxRequestBytes: number;
  /**
   * Maximum size of a response in bytes of JSON. A shipment with the maximum number of milestones fits, and so does a
   * page of events.
   */
  readonly maxAnswerBytes: number;
  /** Milliseconds after which an idle connection is pinged. */
  readonly keepaliveMs: number;
  /**
   * Milliseconds to wait for a ping's response. The connection is then closed, and its calls are repeated on another.
   */
  readonly keepaliveTimeoutMs: number;
  /**
   * Milliseconds after which a server ends a connection, ± 10 %, so that callers look up replicas again and spread over
   * them.
   */
  readonly connectionAgeMs: number;
  /** Milliseconds from a server's `close` until unfinished calls are abandoned. */
  readonly closeTimeoutMs: number;
}

/**
 * Size limits of gRPC itself. They slightly exceed the limits that this package checks, so that callers get the more
 * specific errors of this package.
 */
export function createGrpcMessageSizeOptions({ maxRequestBytes, maxAnswerBytes }: GrpcLimits) {
  return { request: maxRequestBytes + MAX_ENVELOPE_BYTES, reply: maxAnswerBytes + MAX_ENVELOPE_BYTES };
}

export function createKeepaliveOptions({ keepaliveMs, keepaliveTimeoutMs }: GrpcLimits) {
  return { keepaliveTimeMs: keepaliveMs, keepaliveTimeoutMs, keepalivePermitWithoutCalls: 1 };
}

const formatBearer = (token: string) => `Bearer ${token}`;

export function setBearerToken(metadata: Metadata, token: string): void {
  metadata.set(GRPC_AUTHORIZATION_METADATA_KEY, formatBearer(token));
}

/**
 * Refuses callers without the token before the server reads their request. This applies to all operations and to
 * reflection.
 */
export function createTokenCheckInterceptor(token: string): ServerInterceptor {
  const authorization = computeTextDigest(formatBearer(token));
  return (_method, call) =>
    new ServerInterceptingCall(call, {
      start: (begin) =>
        begin({
          onReceiveMetadata(metadata, accept) {
            const [given = ''] = metadata.get(GRPC_AUTHORIZATION_METADATA_KEY);
            if (timingSafeEqual(computeTextDigest(given), authorization)) accept(metadata);
            else
              call.sendStatus({
                code: status.UNAUTHENTICATED,
                details: 'the service token of the call is missing or wrong',
              });
          },
        }),
    });
}

export function addCausingRequestIdsToMetadata(metadata: Metadata, { request_id, traceparent }: CausingRequest): void {
  metadata.set(REQUEST_ID_KEY, request_id);
  metadata.set(TRACEPARENT_KEY, traceparent);
}

/** Reads the ids of the client request that the caller sent as metadata, if any. */
export function readClientRequestIdsFromMetadata(metadata: Metadata): Partial<CausingRequest> {
  const [request_id] = metadata.get(REQUEST_ID_KEY);
  const [traceparent] = metadata.get(TRACEPARENT_KEY);
  return {
    ...(request_id !== undefined && { request_id: request_id.toString() }),
    ...(traceparent !== undefined && { traceparent: traceparent.toString() }),
  };
}

/**
 * Computes a digest. Digests have the same length for every text, so the duration of a comparison does not depend on
 * either text.
 */
function computeTextDigest(text: string | Buffer): Buffer {
  return createHash('sha256').update(text).digest();
}
