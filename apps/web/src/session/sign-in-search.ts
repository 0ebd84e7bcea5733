export interface SignInSearch {
  /** Where they come back to. */
  readonly next?: string;
  /** Their session has ended; else they have not signed in yet. */
  readonly ended?: true;
}

export function readSignInSearch({ next, ended }: Record<string, unknown>): SignInSearch {
  return { ...(typeof next === 'string' && { next }), ...(ended === true && { ended }) };
}
