import { setImmediate } from 'node:timers/promises';
import type { DeliveryStatus } from '@tracking/contracts';
import type { Collection, Query } from '@tracking/ports';
import type { AttemptDocument, DeliveryDocument, PayloadDocument } from './delivery-document.ts';
import { DeliveryQueries } from './delivery-queries.ts';

const SCOPE = { workspace_id: 'wsp_1', environment: 'live' } as const;

describe('the log of deliveries', () => {
  /** One delivery, which changes its status after each read. */
  function changing(statuses: readonly DeliveryStatus[]) {
    const left = [...statuses];
    let looks = 0;
    const find = async ({ filter }: Query) => {
      looks += 1;
      // The first read is the slowest of the concurrent ones.
      if (looks === 1) for (let turns = 0; turns < 5; turns += 1) await setImmediate();
      const [status] = left;
      if (left.length > 1) left.shift();
      if (filter['status'] !== status) return [];
      return [{ ...SCOPE, id: 'dlv_1', created_at: '2026-11-01T00:00:00.000Z', status } as DeliveryDocument];
    };
    return new DeliveryQueries(
      { find } as unknown as Collection<DeliveryDocument>,
      {} as Collection<AttemptDocument>,
      {} as Collection<PayloadDocument>,
    );
  }

  it.each([
    { what: 'is sent', statuses: ['pending', 'retrying', 'succeeded'] },
    { what: 'is sent again', statuses: ['succeeded', 'succeeded', 'pending'] },
    { what: 'is given up', statuses: ['retrying', 'discarded'] },
  ] as const)('contains a delivery that $what while the statuses are read', async ({ statuses }) => {
    const found = await changing(statuses).findDeliveries([SCOPE], {}, { limit: 10 });
    expect(found.map(({ id }) => id)).toEqual(['dlv_1']);
  });
});
