import { scaleTimeout } from '@tracking/testing';
import type { Shipment } from '@tracking/contracts';
import type { SystemUnderTest } from '../subject.ts';
import { createReadAfterWriteHeaders, listAllItems, createTestTenant, type TestTenant } from '../tenant.ts';

export function declareShipmentListTests(subject: () => SystemUnderTest): void {
  describe('lists of shipments', () => {
    let tenant: TestTenant;
    beforeAll(async () => {
      tenant = await createTestTenant(subject(), 'operator');
    }, scaleTimeout(30_000));

    test('lists find shipments by any reference, alone and combined, in each sort order', async () => {
      const { api } = tenant;
      const create = (n: number) =>
        api.post<Shipment>('/v1/shipments', {
          external_id: `LIST-${n}`,
          mode: n % 2 === 0 ? 'sea' : 'air',
          house_bill: `HBL ${n % 3}`,
          booking_number: n < 6 ? 'BKG-1' : 'BKG-2',
          container_numbers: n === 4 ? ['CSQU3054383'] : [],
          carrier_scac: n % 2 === 0 ? 'MAEU' : 'LH',
          consignee: { name: n < 3 ? 'Göteborg Möbler AB' : 'Acme', external_id: `C-${n % 4}` },
          references: [{ type: 'po', value: `PO-${n}/7` }],
          eta: n % 5 === 0 ? null : `2027-02-0${(n * 7) % 9 || 9}T00:00:00Z`,
        });
      const made: Shipment[] = [];
      for (let n = 0; n < 12; n += 1) made.push((await create(n)).data);
      const last = await api.post(`/v1/shipments/${made[11]?.id}/cancel`);
      const numbers = async (params: object) =>
        (
          await listAllItems<Shipment>(api, '/v1/shipments', { limit: 3, ...params }, createReadAfterWriteHeaders(last))
        ).map(({ external_id }) => Number(external_id?.slice(5)));
      expect(await numbers({ mode: 'vessel', sort: 'created_at' })).toEqual([0, 2, 4, 6, 8, 10]);
      expect(await numbers({ mode: 'air,rail', sort: 'created_at' })).toEqual([1, 3, 5, 7, 9, 11]);
      expect(await numbers({ mode: 'sea,air', booking_number: 'BKG-1' })).toEqual([5, 4, 3, 2, 1, 0]);
      expect(await numbers({ house_bill: 'HBL 1', carrier_scac: 'maeu' })).toEqual([10, 4]);
      expect(await numbers({ container_number: 'csqu 305438-3' })).toEqual([4]);
      expect(await numbers({ consignee: 'C-3', active: true })).toEqual([7, 3]);
      expect(await numbers({ active: false })).toEqual([11]);
      expect(await numbers({ booking_number: 'BKG-2', status: 'pending,booked' })).toEqual([10, 9, 8, 7, 6]);
      expect(await numbers({ reference: 'PO-5/7' })).toEqual([5]);
      expect(await numbers({ q: 'göte po' })).toEqual([2, 1, 0]);
      expect(await numbers({ q: 'HBL 1', sort: '-created_at' })).toEqual(expect.arrayContaining([10, 7, 4, 1]));
      const byEta = [...made].sort((a, b) => {
        if (a.eta === b.eta) return a.id < b.id ? -1 : 1;
        return a.eta === null || (b.eta !== null && a.eta > b.eta) ? 1 : -1;
      });
      expect(await numbers({ sort: 'eta' })).toEqual(byEta.map(({ external_id }) => Number(external_id?.slice(5))));
      expect((await numbers({ sort: '-updated_at' }))[0]).toBe(11);
      const later = await numbers({ eta_from: '2027-02-05T00:00:00Z', sort: '-eta' });
      expect(later.sort()).toEqual(
        made.flatMap(({ eta }, n) => (eta !== null && eta >= '2027-02-05' ? [n] : [])).sort(),
      );
    });

    test('lists reject unknown parameters and name the valid ones', async () => {
      const { status, data } = await tenant.api.get('/v1/shipments?mode=boat&sort=weight&q=.');
      expect(status).toBe(400);
      const { details } = (data as { error: { details: { param: string; message: string }[] } }).error;
      expect(details.map(({ param }) => param).sort()).toEqual(['mode', 'q', 'sort']);
      expect(details.find(({ param }) => param === 'mode')?.message).toContain('ocean, air');
    });
  });
}
