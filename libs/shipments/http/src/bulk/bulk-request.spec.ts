import type { Warning } from '@tracking/contracts';
import { Busy, Unavailable } from '@tracking/ports';
import type { CommandContext } from '@tracking/shipments';
import { BulkRequest } from './bulk-request.ts';

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

describe('a request of many items', () => {
  it.each([
    ['resources', { resource: { text: 'x'.repeat(17 * MIB) }, warnings: [] }],
    ['warnings', { resource: {}, warnings: [warning('x'.repeat(17 * MIB))] }],
  ])('begins no more of them once the %s that are answered are too large', async (_, answer) => {
    const request = new BulkRequest<unknown, object>([1, 2, 3], COMMAND, 'shipment');
    await request.read((input) => input, 0);
    await request.carryOut(
      () => 'one after another',
      () => Promise.resolve({ status: 200, position: '', ...answer }),
    );
    expect(request.counts).toEqual({ items: '3', items_refused: '1' });
  });

  it('fails with an unknown outcome when one of its items may have been carried out', async () => {
    const errors = [new Busy('shipments', 'full'), new Unavailable('event store', 'lost')];
    const request = new BulkRequest<number, object>([0, 1], COMMAND, 'shipment');
    await request.read((input) => input as number, 0);
    await request.carryOut(
      () => undefined,
      (item) => Promise.reject(errors[item]!),
    );
    const refused = { type: 'internal', code: 'busy', message: '', param: null, details: [], request_id: '' } as const;
    const failure = request.failure(() => ({ status: 503, error: refused }));
    expect([failure.isOfAll, failure.error]).toEqual([true, errors[1]]);
  });
});

function warning(message: string): Warning {
  return { code: 'possible_duplicate', param: null, message };
}
