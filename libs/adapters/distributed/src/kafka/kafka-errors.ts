import { setTimeout as pause } from 'node:timers/promises';
import { Unavailable } from '@tracking/ports';

export const ENGINE = 'message broker';

interface KafkaJsError {
  readonly cause?: unknown;
  readonly type?: unknown;
  readonly code?: unknown;
  readonly name?: unknown;
}

/** What went wrong in one word, as `ECONNREFUSED`: messages and causes of the driver name addresses. */
export function reasonOf(error: unknown): string {
  if (error instanceof Unavailable) return error.message;
  if (typeof error !== 'object' || error === null) return 'unknown';
  const { cause, type, code, name }: KafkaJsError = error;
  for (const word of [type, code]) if (typeof word === 'string') return word;
  return cause === undefined || cause === null || cause === error ? String(name) : reasonOf(cause);
}

/**
 * Settles as `work` does, if it does so in time and before the signal aborts; what it does later is nobody's concern.
 * @throws Unavailable
 */
export async function within<T>(ms: number, work: Promise<T>, signal?: AbortSignal): Promise<T> {
  const given = new AbortController();
  const giveUp = () => given.abort();
  signal?.addEventListener('abort', giveUp);
  if (signal?.aborted) giveUp();
  const late = pause(Math.max(ms, 0), 'did not answer in time', { signal: given.signal }).catch(() => 'closed');
  try {
    return await Promise.race([work, late.then((reason) => Promise.reject(new Unavailable(ENGINE, reason)))]);
  } finally {
    signal?.removeEventListener('abort', giveUp);
    giveUp();
  }
}
