import { randomBytes, randomUUID } from 'node:crypto';
import { startApi } from './start-api.ts';
import type { Api } from './start-api.ts';
import type { ApiResponse } from './described-responses.ts';

let api: Api;
let key: string;
beforeAll(async () => {
  api = await startApi();
  key = await api.key('operator');
});
afterAll(() => api.stop());

const under = () => ({ 'idempotency-key': randomUUID() });
const bulk = (shipments: readonly unknown[], headers: Record<string, string> = {}): Promise<ApiResponse> =>
  api.call('POST', '/v1/shipments/bulk', { key, json: { shipments }, headers });

describe('POST /v1/shipments/bulk with an Idempotency-Key', () => {
  it('carries the same commands out again where no engine could store the answer', async () => {
    const text = () => randomBytes(750).toString('base64').slice(0, 1_000);
    const many = <T>(one: () => T): T[] => Array.from({ length: 50 }, one);
    const make = (external_id: string) => ({
      external_id,
      metadata: Object.fromEntries(many(text).map((each, n) => [`${n}`, each])),
      references: many(() => ({ type: text(), value: text() })),
      legs: many(() => ({ vessel: text(), voyage: text() })),
    });
    const shipments = Array.from({ length: 45 }, (_, n) => make(`LARGE-${n}`));
    for (let n = 0; n < shipments.length; n += 30) await bulk(shipments.slice(n, n + 30));
    // Each answers a shipment of 250 KB that nothing makes smaller.
    const items = shipments.map(({ external_id }) => ({ external_id, house_bill: external_id }));
    const headers = under();
    const first = await bulk(items, headers);
    const head = await api.head();
    const again = await bulk(items, headers);
    expect([again.text === first.text, again.headers.get('idempotency-replayed')]).toEqual([true, null]);
    expect(await api.head()).toEqual(head);
  });

  it('keeps a large answer compressed', async () => {
    const items = Array.from({ length: 155 }, (_, n) => ({
      external_id: `MANY-${n}`,
      container_numbers: Array.from({ length: 200 }, (_each, m) => `ABCU${1_000_000 + 200 * n + m}`),
    }));
    const headers = under();
    const first = await bulk(items, headers);
    expect(first.text.length).toBeGreaterThan(12 * 1024 * 1024);
    const again = await bulk(items, headers);
    expect([again.text === first.text, again.headers.get('idempotency-replayed')]).toEqual([true, 'true']);
  });
});
