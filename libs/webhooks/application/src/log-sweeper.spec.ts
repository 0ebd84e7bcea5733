import { setImmediate } from 'node:timers/promises';
import type { Collection, Lease, Query } from '@tracking/ports';
import { BackgroundWorkThrottle } from '@tracking/resilience';
import { RecordedMetrics, eventually } from '@tracking/testing';
import { EndpointStore } from './endpoints/endpoint-store.ts';
import { ExpiredDeliverySweeper, type LogSweeperDependencies } from './log-sweeper.ts';
import { ReplayStore } from './replays/replay-store.ts';
import { deleteHourlyStatsBefore } from './stats/statistics.ts';

const BEFORE = '2026-01-01T00:00:00.000Z';
const OLD = '2025-01-01T00:00:00.000Z';
const COUNT = 450;
/** Fields of every kind of document that make it old enough to be deleted. */
const FIELDS = { revision: 1, status: 'completed', created_at: OLD, updated_at: OLD, completed_at: OLD };

/** A collection of {@link COUNT} documents that every query finds, in the order of their ids. */
function stored() {
  const documents = new Map(Array.from({ length: COUNT }, (_, n): [string, object] => [`id_${1_000 + n}`, FIELDS]));
  const remove = (id: string) => Promise.resolve(documents.delete(id));
  const collection = {
    find: ({ limit, after = [] }: { readonly limit: number; readonly after?: readonly string[] }) => {
      const found = [...documents].map(([id, fields]) => ({ id, ...fields }));
      return Promise.resolve(found.filter(({ id }) => id > (after.at(-1) ?? '')).slice(0, limit));
    },
    delete: remove,
    writeMany: (writes: readonly { readonly id: string }[]) => Promise.all(writes.map(({ id }) => remove(id))),
  };
  return { documents, collection: collection as unknown as Collection<never> };
}

/** A sweeper whose other parts find nothing, as long as its process has the lease. */
function startSweeper(
  parts: Partial<Record<keyof LogSweeperDependencies, unknown>>,
  pace?: BackgroundWorkThrottle,
): ExpiredDeliverySweeper {
  const never = new AbortController().signal;
  const lease = { lost: never, handOverRequested: never, releaseLease: () => Promise.resolve() } as Lease;
  const sweeper = new ExpiredDeliverySweeper({
    deliveries: { find: () => Promise.resolve([]) },
    payloads: { findWithinByteLimit: () => Promise.resolve({ documents: [] }), writeMany: () => Promise.resolve() },
    replays: { deleteEndedReplays: () => Promise.resolve(), hasReplays: () => Promise.resolve(false) },
    statistics: { deleteHours: () => Promise.resolve() },
    endpoints: { listEndpointsDeletedBefore: () => Promise.resolve([]) },
    health: { delete: () => Promise.resolve(true) },
    retention: { deliveriesMs: 1, deadLettersMs: 1 },
    everyMs: 1,
    clock: () => new Date(BEFORE),
    leases: { acquireLease: () => Promise.resolve(lease) },
    logger: { warn: () => undefined },
    metrics: new RecordedMetrics(),
    ...parts,
    pace,
  } as unknown as LogSweeperDependencies);
  sweeper.job.startJobRounds();
  return sweeper;
}

describe('the sweep of old webhook records', () => {
  test('reads at most 4 MiB of bodies at once, with a pause after each read', async () => {
    const body = 'x'.repeat(2 ** 20);
    const fields = { body, created_at: OLD };
    const left = new Map(Array.from({ length: 20 }, (_, n): [string, object] => [`evt_${n + 10}.v`, fields]));
    const trace: (number | 'pause')[] = [];
    const findWithinByteLimit = ({ after = [], limit }: Query, maxBytes: number) => {
      const all = [...left.keys()].map((id) => ({ id, ...fields })).filter(({ id }) => id > String(after[0] ?? ''));
      const documents = all.slice(0, Math.min(limit, Math.max(1, Math.floor(maxBytes / body.length))));
      trace.push(documents.length);
      return Promise.resolve({ documents, isCut: documents.length < all.length });
    };
    const writeMany = async (writes: readonly { readonly id: string }[]) => {
      for (const { id } of writes) left.delete(id);
    };
    const rest = async () => void trace.push('pause');
    const sweeper = startSweeper(
      { payloads: { findWithinByteLimit, writeMany } },
      new BackgroundWorkThrottle({ share: 0.2, rest }),
    );
    await eventually(() => expect(left.size).toBe(0));
    await sweeper.job.stopJobRounds();
    const reads = trace.slice(trace.indexOf(4), trace.lastIndexOf(4) + 2);
    expect(reads).toEqual(Array.from({ length: 5 }, () => [4, 'pause']).flat());
  });

  test('reads no more parts of the log once the process ends', async () => {
    const ending = new AbortController();
    const scopes = Array.from({ length: 20 }, (_, n) => `wsp_${n + 10}`);
    const parts: string[] = [];
    const searches: unknown[] = [];
    const find = ({ filter }: Query) => {
      const { workspace_id } = filter as { readonly workspace_id?: string | { readonly gt: string } };
      if (typeof workspace_id === 'string') {
        parts.push(workspace_id);
        ending.abort();
        return Promise.resolve([]);
      }
      searches.push(workspace_id);
      const next = scopes.find((scope) => scope > (workspace_id?.gt ?? ''));
      return Promise.resolve(next === undefined ? [] : [{ workspace_id: next }]);
    };
    // Lets the job stop before the pause ends.
    const rest = async () => void (await setImmediate());
    const sweeper = startSweeper({ deliveries: { find } }, new BackgroundWorkThrottle({ share: 0.2, rest }));
    await new Promise((resolve) => ending.signal.addEventListener('abort', resolve));
    await sweeper.job.stopJobRounds();
    expect(parts).toEqual(['wsp_10']);
    expect(searches).toHaveLength(1);
  });

  test.each<
    [string, number, (all: Collection<never>, pace: BackgroundWorkThrottle, ending: AbortController) => Promise<void>]
  >([
    ['hours', 200, (all, pace, { signal }) => deleteHourlyStatsBefore(all, BEFORE, pace, signal)],
    ['replays', 100, (all, pace, { signal }) => new ReplayStore(all, all).deleteEndedReplays(BEFORE, pace, signal)],
    [
      'endpoints',
      100,
      async (all, pace, { signal }) => {
        const sweeper = startSweeper({ endpoints: new EndpointStore(all) }, pace);
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
        await sweeper.job.stopJobRounds();
      },
    ],
  ])('pauses after each page of %s, and stops when the process ends', async (_, page, sweep) => {
    const { documents, collection } = stored();
    const ending = new AbortController();
    let rests = 0;
    const rest = async () => {
      if (documents.size === COUNT) return;
      rests += 1;
      if (rests < 2) return;
      ending.abort();
      // Lets the job stop before the pause ends.
      await setImmediate();
    };
    await sweep(collection, new BackgroundWorkThrottle({ share: 0.2, rest }), ending);
    expect([rests, documents.size]).toEqual([2, COUNT - 2 * page]);
  });
});
