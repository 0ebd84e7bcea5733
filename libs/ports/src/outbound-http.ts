export interface OutboundRequest {
  /** Absolute URL of the receiver. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Sent as these bytes. */
  readonly body: string | Uint8Array;
  /** One deadline from name resolution to the last body byte, in milliseconds. */
  readonly timeoutMs: number;
  /** Ends it with `aborted`, whatever it is at. */
  readonly signal?: AbortSignal;
  /**
   * Asked right before the bytes are written, also when they go out once more on a new connection. Where it answers false
   * none is written, and the outcome is `aborted`.
   */
  readonly mayBeSent?: () => boolean;
}

interface Sent {
  readonly durationMs: number;
  /** The bytes went out once more, on a new connection; absent where they did not. */
  readonly resent?: true;
}

export interface OutboundResponse extends Sent {
  readonly kind: 'response';
  readonly statusCode: number;
  /** Names in lower case; bounded in number and size. */
  readonly headers: Readonly<Record<string, string>>;
  /** At most 16 KiB after decompression, as UTF-8 with replacement characters; reading stops at the cap. */
  readonly body: string;
}

export type OutboundErrorCode =
  | 'timeout'
  | 'dns_failed'
  | 'connection_refused'
  | 'connection_failed'
  | 'connection_reset'
  | 'tls_failed'
  | 'address_not_allowed'
  | 'url_not_allowed'
  | 'invalid_response'
  | 'aborted';

export interface OutboundFailure extends Sent {
  readonly kind: 'failure';
  readonly code: OutboundErrorCode;
  /** One line for people; never the request's headers, body or secrets. */
  readonly message: string;
}

export type OutboundOutcome = OutboundResponse | OutboundFailure;

/**
 * POSTs to addresses that clients chose. Never follows a redirect, never uses a proxy from the environment, connects
 * only to an address that was itself checked (https and public, unless the operator allowed more), reuses connections
 * per origin. Never throws: every outcome is a value. A request that a reused connection dropped before any answer is sent
 * once more on a new one, within the same deadline, and the outcome says so: the receiver may see one attempt twice. An answer that did not end
 * within 64 KiB, whatever they consist of, is `invalid_response`, unless more than is kept of its body was among them.
 */
export interface OutboundHttp {
  post(request: OutboundRequest): Promise<OutboundOutcome>;
  /** Why this URL would be refused before any name is resolved; undefined when it would not. */
  refusalReason(url: string): string | undefined;
  close(): Promise<void>;
}
