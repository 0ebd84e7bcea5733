import type { Collection, Query } from '@tracking/ports';
import { storeDeadLetters } from '../../test/dead-letters.ts';
import { SAMPLE_SCOPE, WebhooksTestHarness } from '../../test/webhooks-test-harness.ts';
import {
  ATTEMPTS_COLLECTION_SPEC,
  type AttemptDocument,
  DELIVERIES_COLLECTION_SPEC,
  type DeliveryDocument,
  computeReusableAttemptSlotId,
} from './delivery-document.ts';
import { DeliveryQueries } from './delivery-queries.ts';

let harness: WebhooksTestHarness;
beforeEach(async () => {
  harness = await WebhooksTestHarness.openWebhooksHarness();
});
afterEach(() => harness.closeWebhooksHarness());

/** Queries, with the number of index entries in the ranges that they read. */
async function countedQueries() {
  const stored = await harness.engine.documentStore.collection<DeliveryDocument>(DELIVERIES_COLLECTION_SPEC);
  const looked = { at: 0 };
  const find = async (query: Query) => {
    const { event_created_at: _time, ...range } = query.filter;
    const inRange = await stored.count(range);
    looked.at += inRange;
    return stored.find(query);
  };
  const deliveries = { find } as unknown as Collection<DeliveryDocument>;
  const nothing = {} as Collection<never>;
  return { queries: new DeliveryQueries(deliveries, nothing, nothing), looked };
}

const ago = (ms: number) => new Date(Date.parse(harness.now()) - ms).toISOString();

test('a list of recent deliveries reads nothing that was recorded long before', async () => {
  const endpoint_id = 'whe_1';
  await storeDeadLetters(harness, 100, { endpoint_id, at: ago(86_400_000) });
  const late = await storeDeadLetters(harness, 2, { endpoint_id });
  for (const filter of [{ endpoint_id }, {}]) {
    const { queries, looked } = await countedQueries();
    const { items } = await queries.listDeliveries({
      scopes: [SAMPLE_SCOPE],
      filter: { ...filter, since: ago(60_000) },
      limit: 50,
    });
    expect(items.map(({ id }) => id).toSorted()).toEqual(late.map(({ id }) => id).toSorted());
    expect(looked.at).toBe(late.length);
    const after = [ago(0), ''];
    expect(
      (
        await queries.listDeliveries({
          scopes: [SAMPLE_SCOPE],
          filter: { ...filter, since: ago(60_000) },
          limit: 50,
          after,
        })
      ).items,
    ).toHaveLength(2);
  }
});

test.each([99, 100, 101, 120, 170])('a delivery shows the first 50 and the latest 50 of %i attempts', async (count) => {
  const { documentStore } = harness.engine;
  const deliveries = await documentStore.collection<DeliveryDocument>(DELIVERIES_COLLECTION_SPEC);
  const attempts = await documentStore.collection<AttemptDocument>(ATTEMPTS_COLLECTION_SPEC);
  const [delivery] = await storeDeadLetters(harness, 1, { endpoint_id: 'whe_1' });
  const id = delivery?.id ?? '';
  const made = { at: harness.now(), duration_ms: 1, status_code: 500, error: null, response: null, manual: false };
  // The latest attempt is stored in the delivery, earlier ones in their own collection.
  for (let number = 1; number < count; number += 1) {
    await attempts.upsert({ id: computeReusableAttemptSlotId(id, number), number, ...made });
  }
  await deliveries.upsert({
    ...(delivery as DeliveryDocument),
    attempts_count: count,
    latest_attempt: { number: count, ...made },
  });
  const payloads = { get: () => Promise.resolve(undefined) } as unknown as Collection<never>;
  const shown = (await new DeliveryQueries(deliveries, attempts, payloads).getDeliveryDetail([SAMPLE_SCOPE], id))
    .attempts;
  const all = Array.from({ length: count }, (_, n) => n + 1);
  expect(shown.map(({ number }) => number)).toEqual(count <= 100 ? all : [...all.slice(0, 50), ...all.slice(-50)]);
});
