import type { logCreator } from 'kafkajs';
import { LRUCache } from 'lru-cache';
import type { Logger } from '@tracking/ports';
import { DESTROYED } from './kafka-client.ts';

const ONCE_IN_MS = 30_000;
const MOST_REMEMBERED = 100;

/**
 * What kafkajs logs, without what it adds (stacks, requests, members), and each message once in half a minute: it repeats
 * them at every attempt. All of that is retried: `RetryReporter` tells what comes of it.
 */
export function kafkaLogs(logger: Logger): logCreator {
  const logged = new LRUCache<string, true>({ max: MOST_REMEMBERED, ttl: ONCE_IN_MS });
  return () =>
    ({ namespace, log }) => {
      if (logged.has(log.message) || log.message.endsWith(DESTROYED)) return;
      logged.set(log.message, true);
      const error = typeof log['error'] === 'string' ? { error: log['error'] } : {};
      logger.debug({ part: namespace, reason: log.message, ...error }, 'message broker: the client complains');
    };
}
