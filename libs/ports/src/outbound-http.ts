export interface OutboundRequest {
  /** Absolute URL of the receiver. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Exact bytes of the request body. */
  readonly body: string | Uint8Array;
  /** Maximum milliseconds from name resolution to the last byte of the response body. */
  readonly timeoutMs: number;
  /** Signal that aborts the request in any phase, with the outcome `aborted`. */
  readonly signal?: AbortSignal;
  /**
   * Callback immediately before the bytes are written, including before they are sent again on a new connection. If it
   * returns false, nothing is written and the outcome is `aborted`.
   */
  readonly mayBeSent?: () => boolean;
}

interface DurationAndResendOfRequest {
  readonly durationMs: number;
  /** True if the bytes were sent again on a new connection. */
  readonly resent?: true;
}

export interface OutboundResponse extends DurationAndResendOfRequest {
  readonly kind: 'response';
  readonly statusCode: number;
  /** Response headers with lower-case names, limited in number and size. */
  readonly headers: Readonly<Record<string, string>>;
  /**
   * Response body as UTF-8 with replacement characters, at most 16 KiB after decompression. Reading stops at the limit.
   */
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

export interface OutboundRequestFailure extends DurationAndResendOfRequest {
  readonly kind: 'failure';
  readonly code: OutboundErrorCode;
  /** Error message for users, in one line. It never contains the request's headers, body or secrets. */
  readonly message: string;
}

export type OutboundOutcome = OutboundResponse | OutboundRequestFailure;

/**
 * POSTs to addresses that clients chose. Never follows redirects, never uses a proxy from the environment, and connects
 * only to an address that was itself checked (https and public unless the operator allows more). Reuses connections per
 * origin. Never throws: every outcome is a value. If a reused connection drops a request before any response, the
 * request is resent once on a new connection within the same deadline, and the outcome says so; the receiver may see
 * one attempt twice. A response that does not end within 64 KiB is `invalid_response`, unless these contain more of its
 * body than is kept.
 */
export interface OutboundHttp {
  post(request: OutboundRequest): Promise<OutboundOutcome>;
  /**
   * Returns the reason why requests to this URL are refused, without resolving its host name; undefined if the URL is
   * allowed.
   */
  describeUrlRefusal(url: string): string | undefined;
  closeOutboundHttp(): Promise<void>;
}
