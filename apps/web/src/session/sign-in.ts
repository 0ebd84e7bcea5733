import { RateLimitError } from '@tracking/client';
import { useEffect, useState } from 'react';

interface SignInSearch {
  /** Path to return to after signing in. */
  readonly next?: string;
  /** Set if a session has ended. */
  readonly ended?: true;
}

export function readSignInSearch({ next, ended }: Record<string, unknown>): SignInSearch {
  return { ...(typeof next === 'string' && { next }), ...(ended === true && { ended }) };
}

/** Checks that a path belongs to this application. Other URLs could lead the user to another site after signing in. */
export function isApplicationPath(path: string | undefined): path is string {
  return path !== undefined && /^\/(?![/\\])/.test(path) && !path.startsWith('/sign-in');
}

const MIN_PASSWORD_LENGTH = 10;
export const PASSWORD_HINT = `At least ${MIN_PASSWORD_LENGTH} characters. A sentence works well.`;

/** Returns the error of a password that is detectable before sending. Null if the password is valid. */
export function validatePassword(password: string): string | null {
  return password.length < MIN_PASSWORD_LENGTH ? `At least ${MIN_PASSWORD_LENGTH} characters` : null;
}

/** Counts down the seconds until the next sign-in attempt after a rate limit. */
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
