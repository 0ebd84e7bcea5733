import { randomUUID } from 'node:crypto';
import type { Shipment } from '@tracking/contracts';
import { patient } from '@tracking/testing';
import type { AxiosResponse } from 'axios';
import type { Subject } from '../subject.ts';
import { after, all, newTenant } from '../tenant.ts';

export function safeRetriesJourney(subject: () => Subject): void {
  test(
    'a POST that is sent again under its Idempotency-Key is carried out once, whichever gateway gets it',
    async () => {
      const { api, gateways } = await newTenant(subject());
      const headers = { 'Idempotency-Key': randomUUID() };
      const send = (turn: number, body: object) =>
        gateways[turn % gateways.length]!.post<string>('/v1/shipments', body, {
          headers,
          transformResponse: (text: string) => text,
        });
      const first = await send(0, { house_bill: 'ONCE' });
      const again = await send(1, { house_bill: 'ONCE' });
      expect([first.status, again.status]).toEqual([201, 201]);
      expect(again.data).toBe(first.data);
      const replayed = ({ headers: answered }: AxiosResponse) => answered['idempotency-replayed'];
      expect([replayed(first), replayed(again)]).toEqual([undefined, 'true']);

      const other = await send(0, { house_bill: 'ANOTHER' });
      expect([other.status, JSON.parse(other.data).error.code]).toEqual([409, 'idempotency_key_reused']);
      const listed = await all<Shipment>(api, '/v1/shipments', {}, after(first));
      expect(listed.map(({ house_bill }) => house_bill)).toEqual(['ONCE']);
    },
    patient(60_000),
  );
}
