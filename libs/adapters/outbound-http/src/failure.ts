import type { OutboundErrorCode } from '@tracking/ports';
import { errors } from 'undici';
import { MAX_ANSWER_BYTES, AnswerTooLongError } from './connections.ts';
import { AddressRefusedError, HostNameNotResolvedError } from './connector.ts';

export interface FailureReason {
  readonly code: OutboundErrorCode;
  /** Error message in one line. Never contains an address of the operator's network or text that the receiver chose. */
  readonly message: string;
}

const CERTIFICATE_ERROR_MESSAGES: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: 'the certificate has expired',
  CERT_NOT_YET_VALID: 'the certificate is not valid yet',
  CERT_REVOKED: 'the certificate was revoked',
  ERR_TLS_CERT_ALTNAME_INVALID: 'the certificate is for another host name',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'the certificate is self-signed',
  SELF_SIGNED_CERT_IN_CHAIN: 'the certificate chain ends in an untrusted authority',
  UNABLE_TO_GET_ISSUER_CERT: 'the certificate chain is incomplete or its authority is not trusted',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'the certificate chain is incomplete or its authority is not trusted',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'the certificate chain is incomplete or its authority is not trusted',
};

const RECEIVER_ACCEPTS_ONLY_HTTP_2_MESSAGE =
  'the receiver accepts only HTTP/2; deliveries use HTTP/1.1, which it must accept too';

const TLS_ERROR_MESSAGES: Readonly<Record<string, string>> = {
  ...CERTIFICATE_ERROR_MESSAGES,
  // The receiver refused `http/1.1` in the negotiation of the protocol (ALPN).
  ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL: RECEIVER_ACCEPTS_ONLY_HTTP_2_MESSAGE,
  'ERR_SSL_SSL/TLS_ALERT_NO_APPLICATION_PROTOCOL': RECEIVER_ACCEPTS_ONLY_HTTP_2_MESSAGE,
};

const CONNECT_ERROR_MESSAGES: Readonly<Record<string, string>> = {
  ENETUNREACH: "no route to the receiver's network",
  EHOSTUNREACH: 'no route to the receiver',
  ETIMEDOUT: 'the receiver did not accept the connection in time',
  UND_ERR_INVALID_ARG: 'the request has a header that HTTP does not allow',
};

/**
 * Converts an error of undici, the socket or TLS to a failure.
 * @param opened true if the connection was open (for https: its handshake was done) when the error occurred
 */
export function toConnectionFailureReason(thrown: Error, opened: boolean): FailureReason {
  const error = getErrorOfFirstTriedAddress(thrown);
  return (
    toFailureReasonOfOutboundHttpError(error) ??
    createConnectionLossFailure(error, opened) ??
    (opened ? convertResponseErrorToFailureReason(error) : toFailureOfOpeningConnection(error))
  );
}

/** Converts errors that this adapter throws to failures. */
function toFailureReasonOfOutboundHttpError(error: Error): FailureReason | undefined {
  if (error instanceof AddressRefusedError) return { code: 'address_not_allowed', message: error.message };
  if (error instanceof HostNameNotResolvedError) return { code: 'dns_failed', message: error.message };
  if (!(error instanceof AnswerTooLongError)) return undefined;
  return { code: 'invalid_response', message: `the answer is longer than ${MAX_ANSWER_BYTES / 1024} KiB` };
}

function createConnectionLossFailure(error: Error, opened: boolean): FailureReason | undefined {
  if (!isConnectionLoss(error)) return undefined;
  const message = opened
    ? 'the receiver closed the connection before its answer was complete'
    : 'the receiver closed the connection before it was open';
  return { code: 'connection_reset', message };
}

function convertResponseErrorToFailureReason(error: NodeJS.ErrnoException): FailureReason {
  const { code = error.name } = error;
  // An invalid answer, such as a status of 099, can violate assertions of undici.
  const isInvalid =
    error instanceof errors.UndiciError || error instanceof errors.HTTPParserError || code === 'ERR_ASSERTION';
  return isInvalid
    ? { code: 'invalid_response', message: describeInvalidAnswer(code, error) }
    : createConnectionFailure(code);
}

function toFailureOfOpeningConnection(error: NodeJS.ErrnoException): FailureReason {
  const { code = error.name, syscall } = error;
  // Errors of the operating system contain the name of the failed system call. Other errors before a connection is open
  // come from TLS.
  const isSystem = syscall !== undefined && code !== 'EPROTO';
  if (isSystem || error instanceof errors.UndiciError) return createConnectionFailure(code);
  return { code: 'tls_failed', message: TLS_ERROR_MESSAGES[code] ?? `the TLS handshake failed (${code})` };
}

function createConnectionFailure(code: string): FailureReason {
  if (code === 'ECONNREFUSED') return { code: 'connection_refused', message: 'the receiver refused the connection' };
  return { code: 'connection_failed', message: CONNECT_ERROR_MESSAGES[code] ?? `the connection failed (${code})` };
}

/** Returns true if the peer closed the connection; false if the peer sent an invalid answer. */
export function isConnectionLoss(error: Error): boolean {
  const { code } = getErrorOfFirstTriedAddress(error);
  if (code === 'ECONNRESET' || code === 'EPIPE') return true;
  // undici uses this code for two cases. The error message identifies unexpected answers.
  return code === 'UND_ERR_SOCKET' && !error.message.startsWith('bad ');
}

function describeInvalidAnswer(code: string, error: Error): string {
  if (code === 'UND_ERR_HEADERS_OVERFLOW') return 'the headers of the answer are too large';
  if (code === 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH') return 'the length of the answer differs from its Content-Length';
  if (code === 'UND_ERR_SOCKET') return 'the answer begins with an unexpected status (101)';
  if (error instanceof errors.HTTPParserError && isHttp2Frame((error as { readonly data?: string }).data))
    return RECEIVER_ACCEPTS_ONLY_HTTP_2_MESSAGE;
  // The reasons of llhttp are constants of the parser, not text of the receiver.
  const reason = /\(([\w /,'-]{1,80})\)$/.exec(error.message)?.[1];
  return `the answer is not valid HTTP/1.1${reason === undefined ? '' : `: ${reason}`}`;
}

/**
 * Returns true if an answer begins with a frame SETTINGS or GOAWAY of the connection, with which every receiver of
 * HTTP/2 begins (RFC 9113, 3.4 and 4.1).
 */
function isHttp2Frame(answer: string | undefined): boolean {
  // A length of less than 65,536 bytes, the type, any flags, and stream 0.
  return /^\0[^][^][\x04\x07][^]\0{4}/.test(answer ?? '');
}

/** Returns the first error if the connector tried several addresses. */
function getErrorOfFirstTriedAddress(error: Error): NodeJS.ErrnoException {
  return 'errors' in error && Array.isArray(error.errors) ? (error.errors[0] as Error) : error;
}
