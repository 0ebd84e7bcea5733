import type { Collection, CountOptions, Filter } from '@tracking/ports';
import { markDeliveryDiscarded } from '@tracking/webhooks-domain';
import { storeDeadLetters } from '../../test/dead-letters.ts';
import { SAMPLE_SCOPE, WebhooksTestHarness } from '../../test/webhooks-test-harness.ts';
import {
  ATTEMPTS_COLLECTION_SPEC,
  type AttemptDocument,
  DELIVERIES_COLLECTION_SPEC,
  type DeliveryDocument,
  computeReusableAttemptSlotId,
  convertToDeliveryDocument,
} from '../store/delivery-document.ts';
import { HourlyDeliveryStatisticsCalculator, type HourlyLogStatisticsDependencies } from './hour-log.ts';

const HOUR = '2026-01-02T03:00:00.000Z';
const AT = '2026-01-02T03:20:00.000Z';
const EARLIER = '2026-01-02T01:20:00.000Z';
const endpoint_id = 'whe_1';
const { signal } = new AbortController();

let harness: WebhooksTestHarness;
let deliveries: Collection<DeliveryDocument>;
let attempts: Collection<AttemptDocument>;
beforeEach(async () => {
  harness = await WebhooksTestHarness.openWebhooksHarness();
  deliveries = await harness.engine.documentStore.collection<DeliveryDocument>(DELIVERIES_COLLECTION_SPEC);
  attempts = await harness.engine.documentStore.collection<AttemptDocument>(ATTEMPTS_COLLECTION_SPEC);
});
afterEach(() => harness.closeWebhooksHarness());

const log = (parts: object) => {
  const watermark = { readRetentionWatermark: () => Promise.resolve('') };
  const endpoints = { getEndpoint: () => Promise.resolve(SAMPLE_SCOPE) };
  const known = { deliveries, attempts, watermark, endpoints, clock: () => new Date(AT) };
  return new HourlyDeliveryStatisticsCalculator({ ...known, ...parts } as object as HourlyLogStatisticsDependencies);
};

test('reads few attempts at a time, as each may have a large response, and counts all attempts of an hour', async () => {
  const made = await storeDeadLetters(harness, 10, { endpoint_id, at: HOUR });
  const attempt = { at: AT, duration_ms: 3, status_code: 500, error: { code: 'x', message: 'x' }, manual: false };
  const numbered = (number: number) => ({ ...attempt, number, response: null });
  for (const each of made) {
    await deliveries.upsert({ ...each, attempts_count: 90, last_attempt_at: AT, latest_attempt: numbered(90) });
    const earlier = Array.from({ length: 89 }, (_, n) => ({
      id: computeReusableAttemptSlotId(each.id, n + 1),
      ...numbered(n + 1),
    }));
    await attempts.writeMany(earlier.map((document) => ({ kind: 'insert', document })));
  }
  let most = 0;
  const getMany = (ids: readonly string[]) => {
    most = Math.max(most, ids.length);
    return attempts.getMany(ids);
  };
  const counts = await log({ attempts: { getMany } }).countAttemptsOfHour(endpoint_id, HOUR, signal);
  expect(counts).toMatchObject({ succeeded: 0, failed: 900, longest_ms: 3 });
  expect(most).toBeLessThanOrEqual(200);
});

test('counts the discards of an hour without reading those of other hours or sandbox events', async () => {
  const made = await storeDeadLetters(harness, 60, { endpoint_id, at: EARLIER });
  const given = made.map((each, n) =>
    convertToDeliveryDocument({ ...markDeliveryDiscarded(each, n < 50 ? EARLIER : AT), sandbox: n > 56 }),
  );
  await deliveries.writeMany(given.map((document) => ({ kind: 'upsert', document })));
  let looked = 0;
  const count = async (filter: Filter, options: CountOptions) => {
    const fields = DELIVERIES_COLLECTION_SPEC.indexes.find(({ name }) => name === options.index)?.fields ?? [];
    const leading = Object.entries(filter).filter(([field]) => fields.includes(field));
    looked = await deliveries.count(Object.fromEntries(leading));
    return deliveries.count(filter, options);
  };
  expect(await log({ deliveries: { count } }).countDeliveriesDiscardedInHour(endpoint_id, HOUR, signal)).toBe(7);
  expect(looked).toBe(7);
});
