import { jest } from '@jest/globals';
import { UnavailableError } from '@tracking/ports';
import { eventually, waitForSimulatedDelay } from '@tracking/testing';
import { type RetryPolicy, ENDPOINT_SHARD_COUNT, computeShardOfEndpoint } from '@tracking/webhooks-domain';
import { createReceiverAnswer } from '../../test/fake-receivers.ts';
import {
  type RunningWebhooks,
  type KillableWebhooks,
  SAMPLE_SCOPE,
  WebhooksTestHarness,
} from '../../test/webhooks-test-harness.ts';

jest.setTimeout(60_000);

const POLICY: RetryPolicy = { firstMs: 20, factor: 1, capMs: 20, windowMs: 3_600_000 };
/** A process that polls so rarely learns of the records of others only by messages. */
const NEVER_POLLS = { policy: POLICY, pollMs: 1_000_000 };
const URLS = Array.from({ length: 12 }, (_, index) => `https://${index}.example.com/hook`);
const MAX_CONCURRENCY = 3;

let harness: WebhooksTestHarness;
let endPublishing: () => Promise<unknown>;
beforeEach(async () => {
  endPublishing = () => Promise.resolve();
  harness = await WebhooksTestHarness.openWebhooksHarness();
});
afterEach(async () => {
  await endPublishing().catch(() => undefined);
  await harness.closeWebhooksHarness();
});

const countShards = ({ metrics }: RunningWebhooks) => metrics.getMetricValue('webhook_shards_owned');
const countSuccesses = ({ metrics }: RunningWebhooks) =>
  metrics.getMetricValue('webhook_attempts_total{outcome="success"}');
const countWakeUps = (processes: readonly RunningWebhooks[], by: 'message' | 'store') =>
  processes.reduce((sum, { metrics }) => sum + metrics.getMetricValue(`webhook_owner_wake_ups_total{by="${by}"}`), 0);

/** Resolves when the processes own all shards and their shares differ by at most one. */
async function waitForEvenShares(processes: readonly RunningWebhooks[]): Promise<void> {
  await eventually(
    () => {
      const shares = processes.map(countShards);
      expect(shares.reduce((sum, share) => sum + share, 0)).toBe(ENDPOINT_SHARD_COUNT);
      expect(Math.max(...shares) - Math.min(...shares)).toBeLessThanOrEqual(1);
    },
    { deadlineMs: 15_000 },
  );
}

async function createEndpoints(process: RunningWebhooks): Promise<void> {
  for (const url of URLS) {
    await harness.createEnabledEndpoint(process, url, { max_concurrency: MAX_CONCURRENCY });
    harness.receivers.setFakeReceiverBehaviour(url, async (request) => {
      await waitForSimulatedDelay(3);
      return harness.receivers.respondWithOk(request);
    });
  }
}

/** Publishes events. The returned function stops it and resolves with the number of events. */
function startPublishing(): () => Promise<number> {
  let isPublishing = true;
  const publish = async () => {
    let events = 0;
    for (; isPublishing; events += 1) {
      await harness.publishEventsToBrokerForTest(harness.addAcknowledgedEventToLog());
      await waitForSimulatedDelay(2);
    }
    return events;
  };
  const published = publish();
  endPublishing = () => {
    isPublishing = false;
    return published;
  };
  return endPublishing as () => Promise<number>;
}

/** Numbers of arrivals of each (endpoint, event). */
function readArrivals(): readonly number[] {
  const counts = new Map<string, number>();
  for (const url of URLS) {
    for (const { headers } of harness.receivers.listDeliveriesReceivedAtUrl(url)) {
      const key = `${url} ${headers['service-event-id'] ?? ''}`;
      counts.set(key, (counts.get(key) ?? 0) + 1);
    }
  }
  return [...counts.values()];
}

async function waitForDeliveries(process: RunningWebhooks, events: number): Promise<void> {
  await eventually(() => expect(readArrivals()).toHaveLength(events * URLS.length), { deadlineMs: 20_000 });
  await eventually(async () =>
    expect(await harness.listDeliveries(process, { statuses: ['pending', 'retrying'] })).toEqual([]),
  );
}

describe('processes that share the shards', () => {
  test('divide the work, and send each other what they record', async () => {
    const processes = [
      await harness.startProcessSharingShards(NEVER_POLLS),
      await harness.startProcessSharingShards(NEVER_POLLS),
    ] as const;
    const [first, second] = processes;
    await waitForEvenShares(processes);
    await createEndpoints(first);
    const publishEnd = startPublishing();
    await eventually(() => expect(readArrivals().length).toBeGreaterThan(200));
    const events = await publishEnd();
    await waitForDeliveries(second, events);
    expect(readArrivals().every((times) => times === 1)).toBe(true);
    expect(Math.min(countSuccesses(first), countSuccesses(second))).toBeGreaterThan(0);
    expect(countWakeUps(processes, 'message')).toBeGreaterThan(0);
    expect(countWakeUps(processes, 'store')).toBe(0);
  });

  test('find what no message announced', async () => {
    const processes = [
      await harness.startProcessSharingShards({ policy: POLICY }),
      await harness.startProcessSharingShards({ policy: POLICY }),
    ];
    const [first, second] = processes as [KillableWebhooks, KillableWebhooks];
    await waitForEvenShares(processes);
    await createEndpoints(first);
    for (const { owners } of processes) {
      const refuse = () => Promise.reject(new UnavailableError('webhooks', 'test'));
      jest.spyOn(owners, 'takeDeliveries').mockImplementation(refuse);
      jest.spyOn(owners, 'reload').mockImplementation(refuse);
    }
    const publishEnd = startPublishing();
    await eventually(() => expect(readArrivals().length).toBeGreaterThan(50));
    await waitForDeliveries(second, await publishEnd());
    expect(countWakeUps(processes, 'store')).toBeGreaterThan(0);
  });

  test('hand a shard over when its attempts have ended', async () => {
    const first = await harness.startProcessSharingShards(NEVER_POLLS);
    const answers: PromiseWithResolvers<ReturnType<typeof createReceiverAnswer>>[] = [];
    await createEndpoints(first);
    for (const url of URLS) {
      harness.receivers.setFakeReceiverBehaviour(url, () => {
        const answer = Promise.withResolvers<ReturnType<typeof createReceiverAnswer>>();
        answers.push(answer);
        return answer.promise;
      });
    }
    await harness.publishEventsToBrokerForTest(harness.addAcknowledgedEventToLog());
    await eventually(() => expect(answers).toHaveLength(URLS.length));
    const second = await harness.startProcessSharingShards(NEVER_POLLS);
    // Shards without an attempt in progress are handed over immediately.
    await eventually(() => expect(countShards(second)).toBeGreaterThan(ENDPOINT_SHARD_COUNT / 2 - URLS.length - 1));
    for (const answer of answers) answer.resolve(createReceiverAnswer(200));
    await waitForEvenShares([first, second]);
    await waitForDeliveries(second, 1);
    expect(readArrivals().every((times) => times === 1)).toBe(true);
    expect(countSuccesses(first)).toBe(URLS.length);
  });

  test('get the shards of a process that stops as soon as the attempts of each shard have ended', async () => {
    const first = await harness.startProcessSharingShards({ ...NEVER_POLLS, drainMs: 20_000 });
    const second = await harness.startProcessSharingShards(NEVER_POLLS);
    await waitForEvenShares([first, second]);
    await createEndpoints(first);
    const { items } = await first.endpoints.list({ ...SAMPLE_SCOPE, limit: URLS.length });
    const { refused } = await first.owners.reload({ endpoint_ids: items.map(({ id }) => id) });
    const [hanging, ...others] = items.filter(({ id }) => !refused.includes(id));
    if (hanging === undefined) throw new Error('the first process owns no endpoint');
    const isInOtherShard = ({ id }: { id: string }) =>
      computeShardOfEndpoint(id) !== computeShardOfEndpoint(hanging.id);
    const urls = others.filter(isInOtherShard).map(({ url }) => url);
    const answer = Promise.withResolvers<ReturnType<typeof createReceiverAnswer>>();
    harness.receivers.setFakeReceiverBehaviour(hanging.url, () => answer.promise);
    await harness.publishEventsToBrokerForTest(harness.addAcknowledgedEventToLog());
    await eventually(() => expect(readArrivals()).toHaveLength(URLS.length));
    const stopped = first.stop();
    await eventually(() => expect(countShards(second)).toBe(ENDPOINT_SHARD_COUNT - 1));
    await harness.publishEventsToBrokerForTest(harness.addAcknowledgedEventToLog());
    const countArrivals = (url: string) => harness.receivers.listDeliveriesReceivedAtUrl(url).length;
    await eventually(() => expect(urls.map(countArrivals)).toEqual(urls.map(() => 2)));
    expect(countArrivals(hanging.url)).toBe(1);
    harness.receivers.setFakeReceiverBehaviour(hanging.url, () => createReceiverAnswer(200));
    answer.resolve(createReceiverAnswer(200));
    await stopped;
    await waitForDeliveries(second, 2);
    expect(readArrivals().every((times) => times === 1)).toBe(true);
  });

  test('get a shard only after its endpoint that answered 410 is disabled', async () => {
    const first = await harness.startProcessSharingShards({ ...NEVER_POLLS, drainMs: 20_000 });
    const url = URLS[0] ?? '';
    const { id: endpoint_id } = await harness.createEnabledEndpoint(first, url, { max_concurrency: 1 });
    const answer = Promise.withResolvers<ReturnType<typeof createReceiverAnswer>>();
    harness.receivers.setFakeReceiverBehaviour(url, () => answer.promise);
    const [refused, waiting] = [harness.addAcknowledgedEventToLog(), harness.addAcknowledgedEventToLog()];
    await harness.publishEventsToBrokerForTest(refused);
    await eventually(() => expect(harness.receivers.listDeliveriesReceivedAtUrl(url)).toHaveLength(1));
    await harness.publishEventsToBrokerForTest(waiting);
    await harness.waitUntilEventsRecorded();
    harness.logIsAway = true;
    answer.resolve(createReceiverAnswer(410));
    await eventually(async () =>
      expect(await harness.getDelivery(first, endpoint_id, refused.id)).toMatchObject({ status: 'dead_lettered' }),
    );
    const stopped = first.stop();
    const second = await harness.startProcessSharingShards(NEVER_POLLS);
    await eventually(() => expect(countShards(second)).toBeGreaterThanOrEqual(ENDPOINT_SHARD_COUNT - 1));
    harness.logIsAway = false;
    await stopped;
    await eventually(() => expect(countShards(second)).toBe(ENDPOINT_SHARD_COUNT));
    expect(await harness.getDelivery(second, endpoint_id, waiting.id)).toMatchObject({ status: 'pending' });
    expect(harness.receivers.listDeliveriesReceivedAtUrl(url)).toHaveLength(1);
  });

  test('1, 4 and 2 processes under load: nothing is lost, and only attempts of killed processes are repeated', async () => {
    const start = () => harness.startProcessSharingShards({ policy: POLICY });
    const first = await start();
    await createEndpoints(first);
    const publishEnd = startPublishing();
    await eventually(() => expect(readArrivals().length).toBeGreaterThan(50));
    const [second, third, fourth] = [await start(), await start(), await start()];
    await waitForEvenShares([first, second, third, fourth]);
    // No endpoint got more requests at once than allowed while shards were handed over.
    expect(Math.max(...URLS.map((url) => harness.receivers.mostAtOnce.get(url) ?? 0))).toBeLessThanOrEqual(
      MAX_CONCURRENCY,
    );
    await second.stop();
    await waitForEvenShares([first, third, fourth]);
    expect(readArrivals().every((times) => times === 1)).toBe(true);
    await third.kill();
    const inDoubt = third.process.unanswered;
    await waitForEvenShares([first, fourth]);
    const arrivedBefore = readArrivals().length;
    await eventually(() => expect(readArrivals().length).toBeGreaterThan(arrivedBefore + 50));
    await waitForDeliveries(first, await publishEnd());
    const repetitions = readArrivals().reduce((sum, times) => sum + times - 1, 0);
    expect(repetitions).toBeLessThanOrEqual(inDoubt);
  });
});
