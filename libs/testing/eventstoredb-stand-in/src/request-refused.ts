/** The stream's last revision as a client expects it. */
export type AppendExpectedRevision = number | 'no_stream' | 'any' | 'stream_exists';

/** Why a node says no. */
export type RefusalReason =
  | {
      readonly kind: 'wrong_expected_version';
      readonly stream: string;
      readonly expected: AppendExpectedRevision;
      /** Undefined: there is no such stream. */
      readonly current: number | undefined;
    }
  | { readonly kind: 'stream_deleted'; readonly stream: string }
  | { readonly kind: 'append_too_large'; readonly limit: number }
  | { readonly kind: 'consumer_too_slow' }
  | { readonly kind: 'shutting_down' }
  | { readonly kind: 'bad_request'; readonly message: string };

export class RequestRefused extends Error {
  override readonly name = 'RequestRefused';
  readonly reason: RefusalReason;

  constructor(reason: RefusalReason) {
    super(reason.kind);
    this.reason = reason;
  }
}
