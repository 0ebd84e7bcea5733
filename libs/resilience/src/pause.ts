/** Resolves after `ms` milliseconds, or at once when the signal aborts: whoever waits looks at the signal afterwards. */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  if (signal?.aborted === true) return Promise.resolve();
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal?.addEventListener('abort', done, { once: true });
  });
}

/**
 * Settles as `promise` does, if it does so in time; what it does later is nobody's concern.
 * @param late makes what is thrown after `ms` milliseconds
 */
export async function withDeadline<T>(promise: Promise<T>, ms: number, late: () => Error): Promise<T> {
  const given = Promise.withResolvers<never>();
  const timer = setTimeout(() => given.reject(late()), ms);
  try {
    return await Promise.race([promise, given.promise]);
  } finally {
    clearTimeout(timer);
  }
}
