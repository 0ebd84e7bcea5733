import { RateLimitError } from '@tracking/client';
import { useEffect, useState } from 'react';

interface SignInSearch {
  /** Where they come back to. */
  readonly next?: string;
  /** Their session has ended; else they have not signed in yet. */
  readonly ended?: true;
}

export function readSignInSearch({ next, ended }: Record<string, unknown>): SignInSearch {
  return { ...(typeof next === 'string' && { next }), ...(ended === true && { ended }) };
}

/** Only addresses of this page: another's would have somebody land elsewhere after signing in. */
export function isOwnPath(path: string | undefined): path is string {
  return path !== undefined && /^\/(?![/\\])/.test(path) && !path.startsWith('/sign-in');
}

const LEAST_PASSWORD = 10;
export const PASSWORD_ABOUT = `${LEAST_PASSWORD} characters or more; a sentence is good`;

/** What is wrong with a password, as far as that is known before it is sent. */
export function passwordFault(password: string): string | null {
  return password.length < LEAST_PASSWORD ? `At least ${LEAST_PASSWORD} characters` : null;
}

/** Where too many tries were refused: seconds until the next, counted down to 0. */
export function useWait() {
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
