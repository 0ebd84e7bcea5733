import { RateLimitError } from '@tracking/client';
import { useEffect, useState } from 'react';

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
