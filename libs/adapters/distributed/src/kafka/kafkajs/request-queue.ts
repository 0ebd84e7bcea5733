import { createRequire } from 'node:module';

/** Of kafkajs 2.2.4, one for each connection: requests that wait for room, or for a throttling broker. */
interface KafkaJsRequestQueue {
  readonly pending: readonly unknown[];
  scheduleCheckPendingRequests(): void;
}

let isPatched = false;

/**
 * From its first answer on, a connection of kafkajs looks every millisecond, for ever, whether a request waits
 * (tulios/kafkajs#1704), which costs a few percent of a core for each. So it looks only while one does.
 */
export function patchRequestQueues(): void {
  if (isPatched) return;
  isPatched = true;
  const require = createRequire(import.meta.url);
  const { prototype } = require('kafkajs/src/network/requestQueue/index.js') as {
    readonly prototype: KafkaJsRequestQueue;
  };
  const { scheduleCheckPendingRequests } = prototype;
  prototype.scheduleCheckPendingRequests = function () {
    if (this.pending.length > 0) scheduleCheckPendingRequests.call(this);
  };
}
