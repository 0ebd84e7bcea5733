import type { DocumentStore } from '@tracking/ports';
import type { WebhookHour } from '../src/index.ts';
import {
  ATTEMPTS_COLLECTION_SPEC,
  type AttemptDocument,
  DELIVERIES_COLLECTION_SPEC,
  type DeliveryDocument,
  type StoredAttempt,
} from '../src/store/delivery-document.ts';

const MAX_DOCUMENTS_READ_BY_TEST_COUNT = 100_000;

type Counted = Pick<WebhookHour, 'hour' | 'attempts' | 'deliveries'> & { readonly longest: number | null };

/** Counts the hours of an endpoint by reading all deliveries and attempts, oldest first. */
export async function computeHourCountsFromStoredLog(
  store: DocumentStore,
  endpointId: string,
): Promise<readonly Counted[]> {
  const deliveries = await store.collection<DeliveryDocument>(DELIVERIES_COLLECTION_SPEC);
  const attempts = await store.collection<AttemptDocument>(ATTEMPTS_COLLECTION_SPEC);
  const all = await deliveries.find({ filter: {}, limit: MAX_DOCUMENTS_READ_BY_TEST_COUNT });
  const own = all.filter(({ endpoint_id, sandbox }) => endpoint_id === endpointId && !sandbox);
  const earlier = Map.groupBy(
    await attempts.find({ filter: {}, limit: MAX_DOCUMENTS_READ_BY_TEST_COUNT }),
    ({ id }) => id.split('.')[0],
  );
  const made = own.flatMap(({ id, attempts_count, latest_attempt }): readonly StoredAttempt[] => {
    const before = (earlier.get(id) ?? []).filter(({ number }) => number < attempts_count);
    return latest_attempt === undefined ? before : [...before, latest_attempt];
  });
  const discards = own.flatMap(({ status, completed_at }) => (status === 'discarded' ? (completed_at ?? []) : []));
  const hours = new Set([...made.map(({ at }) => at), ...discards].map(getStartOfHour));
  return [...hours].toSorted().map((hour) => {
    const ofHour = made.filter(({ at }) => getStartOfHour(at) === hour);
    const succeeded = ofHour.filter(({ error }) => error === null).length;
    return {
      hour,
      attempts: { succeeded, failed: ofHour.length - succeeded },
      deliveries: {
        succeeded,
        dead_lettered: ofHour.filter(({ dead_lettered }) => dead_lettered).length,
        discarded: discards.filter((at) => getStartOfHour(at) === hour).length,
      },
      longest: ofHour.length === 0 ? null : Math.max(...ofHour.map(({ duration_ms }) => duration_ms)),
    };
  });
}

/** Converts hours of an endpoint's statistics to the counts that this file computes. */
export function convertHoursToCounts(hours: readonly WebhookHour[]): readonly Counted[] {
  return hours.map(({ hour, attempts, deliveries, latency_ms: { max } }) => ({
    hour,
    attempts,
    deliveries,
    longest: max,
  }));
}

function getStartOfHour(at: string): string {
  const hour = new Date(at);
  hour.setUTCMinutes(0, 0, 0);
  return hour.toISOString();
}
