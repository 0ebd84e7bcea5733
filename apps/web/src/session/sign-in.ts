import { RateLimitError } from '@tracking/client';
import { useEffect, useState } from 'react';

interface SignInSearch {
  /** The path to return to. */
  readonly next?: string;
  /** Set if the session has ended, rather than never begun. */
  readonly ended?: true;
}

export function readSignInSearch({ next, ended }: Record<string, unknown>): SignInSearch {
  return { ...(typeof next === 'string' && { next }), ...(ended === true && { ended }) };
}

/** Accepts paths of this application only: any other address would lead the user elsewhere after signing in. */
export function isOwnPath(path: string | undefined): path is string {
  return path !== undefined && /^\/(?![/\\])/.test(path) && !path.startsWith('/sign-in');
}

const MIN_PASSWORD_LENGTH = 10;
export const PASSWORD_HINT = `At least ${MIN_PASSWORD_LENGTH} characters. A sentence works well.`;

/** The fault of a password that is known before it is sent; null if there is none. */
export function passwordError(password: string): string | null {
  return password.length < MIN_PASSWORD_LENGTH ? `At least ${MIN_PASSWORD_LENGTH} characters` : null;
}

/** Counts down the seconds until the next try after a rate limit. */
export function useRateLimitCountdown() {
  const [left, setLeft] = useState(0);
  useEffect(() => {
    if (left === 0) return undefined;
    const timer = setTimeout(() => setLeft(left - 1), 1_000);
    return () => clearTimeout(timer);
  }, [left]);
  const waitAfter = (error: unknown) =>
    setLeft(error instanceof RateLimitError ? Math.ceil(error.retryAfter ?? 60) : 0);
  return { left, waitAfter };
}
