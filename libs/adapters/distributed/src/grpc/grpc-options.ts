/** PEM texts. */
export interface GrpcTls {
  /** Who must have signed the other end's certificate; on a channel, the system's authorities where absent. */
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

export const DEFAULT_LIMITS: GrpcLimits = {
  maxCalls: 10_000,
  maxRequestBytes: 8 * 1_048_576,
  maxAnswerBytes: 64 * 1_048_576,
  keepaliveMs: 2_000,
  keepaliveTimeoutMs: 3_000,
  connectionAgeMs: 60_000,
  closeTimeoutMs: 15_000,
};

/** What stands around a request or an answer, and what its text gains as a part of JSON. */
const ENVELOPE_BYTES = 65_536;

/** gRPC's own bounds stand a little beyond ours, which refuse in words. */
export function messageBytes({ maxRequestBytes, maxAnswerBytes }: GrpcLimits) {
  return { request: maxRequestBytes + ENVELOPE_BYTES, reply: maxAnswerBytes + ENVELOPE_BYTES };
}

export function keepaliveOf({ keepaliveMs, keepaliveTimeoutMs }: GrpcLimits) {
  return { keepaliveTimeMs: keepaliveMs, keepaliveTimeoutMs, keepalivePermitWithoutCalls: 1 };
}
