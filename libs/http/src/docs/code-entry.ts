/** What the documentation says of a code: three sentences or so, in plain words. */
export interface CodeEntry {
  /** What it means. */
  readonly means: string;
  /** What was asked for, or sent, and is answered with it. */
  readonly asked: string;
  /** The message of that answer. */
  readonly message: string;
  /** What the client does about it. */
  readonly action: string;
}

/** In this order. */
export function entry(means: string, asked: string, message: string, action: string): CodeEntry {
  return { means, asked, message, action };
}
