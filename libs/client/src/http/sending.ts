import type { Method, Progress } from './request.ts';

/** A request as it is sent once. */
export interface Outgoing {
  readonly method: Method;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Whether a browser sends its cookies to another origin too. */
  readonly withCredentials: boolean;
  readonly signal: AbortSignal;
  /** An object is sent as JSON; undefined: no body. */
  readonly body: unknown;
  readonly onUpload: ((progress: Progress) => void) | undefined;
  /** Whether the answer is taken as a `ReadableStream` of its bytes, as they come. */
  readonly isStream: boolean;
}

export interface Answered {
  /** Whatever it is: none is an error here. */
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  /** JSON as what it says, anything else as text; null where a stream has no body. */
  readonly data: unknown;
}

/** @throws Unanswered */
export type Send = (request: Outgoing) => Promise<Answered>;

/** No answer came, or the signal ended it. */
export class Unanswered extends Error {
  /** @param code of Node, as `ECONNREFUSED`; undefined where nobody tells */
  constructor(
    message: string,
    readonly code: string | undefined,
    cause: unknown,
  ) {
    super(message, { cause });
  }
}
