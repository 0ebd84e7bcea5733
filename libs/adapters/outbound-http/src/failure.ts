import type { OutboundErrorCode } from '@tracking/ports';
import { errors } from 'undici';
import { MAX_ANSWER_BYTES, AnswerTooLong } from './connections.ts';
import { AddressRefused, NameNotResolved } from './connector.ts';

export interface FailureReason {
  readonly code: OutboundErrorCode;
  /** One line for people, in our own words: never an address of the operator's network, nor text that the receiver chose. */
  readonly message: string;
}

const CERTIFICATE_ERROR_MESSAGES: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: 'the certificate has expired',
  CERT_NOT_YET_VALID: 'the certificate is not valid yet',
  CERT_REVOKED: 'the certificate was revoked',
  ERR_TLS_CERT_ALTNAME_INVALID: 'the certificate is for another host name',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'the certificate is self-signed',
  SELF_SIGNED_CERT_IN_CHAIN: 'the certificate chain ends in an authority that is not trusted',
  UNABLE_TO_GET_ISSUER_CERT: 'the certificate chain is incomplete or its authority not trusted',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'the certificate chain is incomplete or its authority not trusted',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'the certificate chain is incomplete or its authority not trusted',
};

const CONNECT_ERROR_MESSAGES: Readonly<Record<string, string>> = {
  ENETUNREACH: 'no route to the network of the receiver',
  EHOSTUNREACH: 'no route to the receiver',
  ETIMEDOUT: 'the receiver did not take the connection',
  UND_ERR_INVALID_ARG: 'the request has a header that HTTP does not allow',
};

/**
 * Translates an error of undici, the socket or TLS.
 * @param opened whether the connection was open (for https: its handshake done) when it happened
 */
export function toFailure(thrown: Error, opened: boolean): FailureReason {
  const error = firstError(thrown);
  return (
    adapterFailure(error) ??
    connectionLossFailure(error, opened) ??
    (opened ? answerFailure(error) : openingFailure(error))
  );
}

/** Translates the errors that this adapter throws itself. */
function adapterFailure(error: Error): FailureReason | undefined {
  if (error instanceof AddressRefused) return { code: 'address_not_allowed', message: error.message };
  if (error instanceof NameNotResolved) return { code: 'dns_failed', message: error.message };
  if (!(error instanceof AnswerTooLong)) return undefined;
  return { code: 'invalid_response', message: `the answer did not end within ${MAX_ANSWER_BYTES / 1024} KiB` };
}

function connectionLossFailure(error: Error, opened: boolean): FailureReason | undefined {
  if (!isConnectionLoss(error)) return undefined;
  const when = opened ? 'its answer was complete' : 'it was open';
  return { code: 'connection_reset', message: `the receiver closed the connection before ${when}` };
}

function answerFailure(error: NodeJS.ErrnoException): FailureReason {
  const { code = error.name } = error;
  // An answer may also break undici's own assumptions about answers, as a status of 099 does.
  const isInvalid =
    error instanceof errors.UndiciError || error instanceof errors.HTTPParserError || code === 'ERR_ASSERTION';
  return isInvalid ? { code: 'invalid_response', message: invalidAnswerMessage(code, error) } : connectionFailure(code);
}

function openingFailure(error: NodeJS.ErrnoException): FailureReason {
  const { code = error.name, syscall } = error;
  // The system's errors name the call that failed; what else happens before a connection is open comes from TLS.
  const isSystem = syscall !== undefined && code !== 'EPROTO';
  if (isSystem || error instanceof errors.UndiciError) return connectionFailure(code);
  return { code: 'tls_failed', message: CERTIFICATE_ERROR_MESSAGES[code] ?? `the TLS handshake failed (${code})` };
}

function connectionFailure(code: string): FailureReason {
  if (code === 'ECONNREFUSED') return { code: 'connection_refused', message: 'the receiver refused the connection' };
  return { code: 'connection_failed', message: CONNECT_ERROR_MESSAGES[code] ?? `the connection failed (${code})` };
}

/** Whether the other side went away, rather than answered something wrong. */
export function isConnectionLoss(error: Error): boolean {
  const { code } = firstError(error);
  if (code === 'ECONNRESET' || code === 'EPIPE') return true;
  // undici's code for both; answers out of turn are told by their words.
  return code === 'UND_ERR_SOCKET' && !error.message.startsWith('bad ');
}

function invalidAnswerMessage(code: string, error: Error): string {
  if (code === 'UND_ERR_HEADERS_OVERFLOW') return 'the headers of the answer are too large';
  if (code === 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH') return 'the answer is not as long as it says';
  if (code === 'UND_ERR_SOCKET') return 'the answer begins with a status that was not asked for (100 or 101)';
  // llhttp's reasons are constants.
  const reason = /\(([\w /,'-]{1,80})\)$/.exec(error.message)?.[1];
  return `the answer is not valid HTTP/1.1${reason === undefined ? '' : `: ${reason}`}`;
}

/** Where several addresses were tried, the first one's error. */
function firstError(error: Error): NodeJS.ErrnoException {
  return 'errors' in error && Array.isArray(error.errors) ? (error.errors[0] as Error) : error;
}
