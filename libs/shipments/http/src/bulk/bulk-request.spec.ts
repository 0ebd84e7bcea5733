import type { Warning } from '@tracking/contracts';
import { BusyError, UnavailableError } from '@tracking/ports';
import type { CommandContext } from '@tracking/shipments';
import { BulkRequestProcessor, processItemsByGroup } from './bulk-request.ts';

const COMMAND: CommandContext = {
  id: '018f0000-0000-7000-8000-000000000000',
  at: '2026-01-01T00:00:00.000Z',
  workspace_id: 'wsp_1',
  environment: 'live',
  actor: { type: 'service_account', id: 'sva_1' },
  request_id: 'req_1',
  traceparent: null,
  strict: false,
};
const MIB = 1024 * 1024;

describe('BulkRequestProcessor', () => {
  it.each([
    ['resources', { resource: { text: 'x'.repeat(17 * MIB) }, warnings: [] }],
    ['resources of characters with several bytes', { resource: { text: '船'.repeat(6 * MIB) }, warnings: [] }],
    ['warnings', { resource: {}, warnings: [warning('x'.repeat(17 * MIB))] }],
  ])('carries out no further item once the %s in the response are too large', async (_, answer) => {
    const request = new BulkRequestProcessor<unknown, object>([1, 2, 3], COMMAND, 'shipment');
    await request.readBulkItems((input) => input, 0);
    await request.processBulkItems(
      () => 'one group',
      () => Promise.resolve({ status: 200, position: '', ...answer }),
    );
    expect(request.counts).toEqual({ items: '3', items_refused: '1' });
  });

  it('fails with an unknown outcome when one of its items may have been carried out', async () => {
    const errors = [new BusyError('shipments', 'full'), new UnavailableError('event store', 'lost')];
    const request = new BulkRequestProcessor<number, object>([0, 1], COMMAND, 'shipment');
    await request.readBulkItems((input) => input as number, 0);
    await request.processBulkItems(
      () => undefined,
      (item) => Promise.reject(errors[item]!),
    );
    const refused = { type: 'internal', code: 'busy', message: '', param: null, details: [], request_id: '' } as const;
    const failure = request.combineItemFailuresIntoError(() => ({ status: 503, error: refused }));
    expect([failure.isOfAll, failure.error]).toEqual([true, errors[1]]);
  });
});

function warning(message: string): Warning {
  return { code: 'possible_duplicate', param: null, message };
}

interface Work {
  readonly n: number;
  readonly group?: string;
}
const items = (count: number, groupOf: (n: number) => string | undefined): Work[] =>
  Array.from({ length: count }, (_, n) => {
    const group = groupOf(n);
    return { n, ...(group !== undefined && { group }) };
  });

describe('processItemsByGroup', () => {
  it('returns the results in the order of the items, whichever ends first', async () => {
    const ends = Array.from({ length: 5 }, () => Promise.withResolvers<void>());
    const carrying = processItemsByGroup(
      items(5, () => undefined),
      () => undefined,
      async ({ n }) => {
        await ends[n]?.promise;
        return n;
      },
    );
    for (const end of ends.reverse()) end.resolve();
    expect(await carrying).toEqual([0, 1, 2, 3, 4]);
  });

  it('keeps the order of a group, and runs groups concurrently', async () => {
    const begun: number[] = [];
    const held = Promise.withResolvers<void>();
    const carrying = processItemsByGroup(
      items(6, (n) => (n % 2 === 0 ? 'even' : undefined)),
      ({ group }) => group,
      async ({ n }) => {
        begun.push(n);
        if (n === 0) await held.promise;
      },
    );
    while (begun.length < 4) await new Promise(setImmediate);
    expect(begun).toEqual([0, 1, 3, 5]);
    held.resolve();
    await carrying;
    expect(begun).toEqual([0, 1, 3, 5, 2, 4]);
  });

  it('runs a limited number at a time', async () => {
    let [underWay, most] = [0, 0];
    await processItemsByGroup(
      items(500, () => undefined),
      () => undefined,
      async () => {
        underWay += 1;
        most = Math.max(most, underWay);
        await new Promise(setImmediate);
        underWay -= 1;
      },
    );
    expect(most).toBe(32);
  });
});
