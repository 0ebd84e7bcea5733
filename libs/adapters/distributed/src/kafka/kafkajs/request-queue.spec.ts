import { createRequire } from 'node:module';
import { patchRequestQueues } from './request-queue.ts';

interface Queue {
  readonly pending: unknown[];
  readonly throttleCheckTimeoutId: NodeJS.Timeout | null;
  checkPendingRequests(): void;
  destroy(): void;
}
type QueueClass = new (options: object) => Queue;

const NO_ROOM = { maxInFlightRequests: 0, requestTimeout: 1_000, clientId: 'c', broker: 'b', logger: {} };

describe('a queue of requests of kafkajs', () => {
  let queue: Queue;
  beforeEach(() => {
    patchRequestQueues();
    const require = createRequire(import.meta.url);
    queue = new (require('kafkajs/src/network/requestQueue/index.js') as QueueClass)(NO_ROOM);
  });
  afterEach(() => queue.destroy());

  it('rests while nothing waits in it', () => {
    queue.checkPendingRequests();
    expect(queue.throttleCheckTimeoutId ?? undefined).toBeUndefined();
  });

  it('is looked at again while something waits in it', () => {
    queue.pending.push({});
    queue.checkPendingRequests();
    expect(queue.throttleCheckTimeoutId ?? undefined).toBeDefined();
  });
});
