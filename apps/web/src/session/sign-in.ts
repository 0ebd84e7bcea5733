import { RateLimitError } from '@tracking/client';
import { useEffect, useState } from 'react';

interface SignInUrlParameters {
  /** Path that is opened after the user has signed in. */
  readonly next?: string;
  /** True if the sign-in page was opened because the session had ended. */
  readonly ended?: true;
}

export function readSignInUrlParameters({ next, ended }: Record<string, unknown>): SignInUrlParameters {
  return { ...(typeof next === 'string' && { next }), ...(ended === true && { ended }) };
}

/**
 * Checks if a path belongs to this application. Any other URL could lead the user to a foreign site after signing in.
 */
export function isPathWithinApplication(path: string | undefined): path is string {
  return path !== undefined && /^\/(?![/\\])/.test(path) && !path.startsWith('/sign-in');
}

const MIN_PASSWORD_LENGTH = 10;
export const PASSWORD_FIELD_HINT = `At least ${MIN_PASSWORD_LENGTH} characters. A sentence works well.`;

/** Returns the error message for an invalid password, or null if the password is valid. */
export function validatePassword(password: string): string | null {
  return password.length < MIN_PASSWORD_LENGTH ? `At least ${MIN_PASSWORD_LENGTH} characters` : null;
}

/** Returns the seconds until the next sign-in attempt is allowed, and counts them down. */
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
