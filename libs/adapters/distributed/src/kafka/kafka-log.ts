import type { logCreator } from 'kafkajs';
import type { Logger } from '@tracking/ports';
import { DESTROYED } from './kafka-client.ts';

const SILENCE_MS = 30_000;
const MOST_REMEMBERED = 100;

/**
 * What kafkajs complains of, without what it adds (stacks, requests, members), and each complaint once in half a minute:
 * it repeats them at every attempt. All of that is tried again: what comes of it is told by who waits for it.
 */
export function kafkaLogs(logger: Logger): logCreator {
  const last = new Map<string, number>();
  return () =>
    ({ namespace, log }) => {
      const now = performance.now();
      if (now - (last.get(log.message) ?? -Infinity) < SILENCE_MS || log.message.endsWith(DESTROYED)) return;
      if (last.size >= MOST_REMEMBERED) last.clear();
      last.set(log.message, now);
      const error = typeof log['error'] === 'string' ? { error: log['error'] } : {};
      logger.debug({ part: namespace, reason: log.message, ...error }, 'message broker: the client complains');
    };
}
