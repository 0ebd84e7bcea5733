import { MANUAL_EXCEPTION_TYPES } from '@tracking/contracts';
import { type EventStore, computeEventBytes } from '@tracking/ports';
import { SHIPMENT_LIMITS } from '@tracking/shipments-domain';
import {
  createSampleCancelShipmentCommand,
  createOpenExceptionCommand,
  createPatchCommand,
  SAMPLE_SCOPE,
  createUpsertCommand,
} from '../test/builders.ts';
import { TestEngine, createShipmentsReplica } from '../test/engine.ts';
import { createPublicEventRecreator } from './publisher/event-maker.ts';

/** The longest allowed text, in characters of three bytes. */
const LONG = '貨'.repeat(1_000);

describe('a shipment with the maximum number of open exceptions and the longest texts', () => {
  it('is cancelled, and its history and events contain each exception completely', async () => {
    const engine = await TestEngine.openTestEngine();
    try {
      const service = createShipmentsReplica(engine.store, { commandsPerShipment: SHIPMENT_LIMITS.exceptions });
      const container_numbers = Array.from({ length: 40 }, (_, n) => `MSCU${1_000_000 + n}`);
      const { answer } = await service.upsertShipment(createUpsertCommand({ external_id: 'T-1', container_numbers }));
      const { id, open_exceptions_count } = answer.shipment;
      // One exception of each type for each container.
      const texts = { title: LONG, detail: LONG, assignee: LONG };
      const all = container_numbers.flatMap((container_number) =>
        MANUAL_EXCEPTION_TYPES.map((type) => ({ ...texts, type, container_number })),
      );
      const opened = await Promise.all(
        all
          .slice(0, SHIPMENT_LIMITS.exceptions - open_exceptions_count)
          .map((each) => service.openException(createOpenExceptionCommand(id, each))),
      );

      const cancelled = await service.cancelShipment(createSampleCancelShipmentCommand(id));
      expect(cancelled.answer.shipment).toMatchObject({ status: 'cancelled', open_exceptions_count: 0 });
      const resolved = (await engine.store.read(`shipment-${id.slice(4)}`)).filter(
        ({ type }) => type === 'exception.resolved.v2',
      );
      expect(opened.length).toBeGreaterThan(300);
      expect(resolved).toHaveLength(open_exceptions_count + opened.length);
      expect(resolved.reduce((sum, event) => sum + computeEventBytes(event), 0)).toBeLessThan(500_000);

      const expected = new Map(opened.map(({ answer: { exception } }) => [exception.id, exception]));
      const history = await service.listHistory({ ...SAMPLE_SCOPE, shipment_id: id, limit: 200 });
      for (const { changes } of history?.items.filter(({ type }) => type === 'exception.resolved') ?? []) {
        const { from, to } = changes.exception ?? {};
        expect(from).toEqual(expected.get(String((to as { id: string }).id)));
        expect(to).toMatchObject({ title: LONG, status: 'resolved', resolution: { code: 'shipment_cancelled' } });
      }

      const addresses = { appUrl: 'https://app.example', baseUrl: 'https://api.example' };
      const make = createPublicEventRecreator({ eventStore: engine.store, addresses });
      const [last] = resolved.slice(-1);
      if (last === undefined) throw new Error('nothing was resolved');
      const { events } = await make([{ ...last, id: `evt_${last.id}` }], 1_000_000);
      const [published] = events;
      expect(published?.data['exception']).toMatchObject({ detail: LONG, status: 'resolved' });
    } finally {
      await engine.closeTestEngine();
    }
  });
});

describe('a shipment with the longest texts that is updated repeatedly', () => {
  it('is read in slices of its stream, and its history in pages of some megabytes', async () => {
    const engine = await TestEngine.openTestEngine();
    let mostAtOnce = 0;
    const store = new Proxy(engine.store, {
      get(of, name) {
        if (name === 'read') {
          return async (...range: Parameters<EventStore['read']>) => {
            const events = await of.read(...range);
            mostAtOnce = Math.max(mostAtOnce, events.length);
            return events;
          };
        }
        const member = Reflect.get(of, name, of) as unknown;
        return typeof member === 'function' ? (member.bind(of) as unknown) : member;
      },
    });
    try {
      const references = (n: number) =>
        Array.from({ length: 50 }, () => ({ type: LONG, value: `${n}${LONG.slice(3)}` }));
      const first = createShipmentsReplica(store);
      const { answer } = await first.upsertShipment(createUpsertCommand({ external_id: 'T-1' }));
      const { id } = answer.shipment;
      // Large events, and enough small ones for more than one slice.
      const changes = (n: number) => (n < 16 ? { references: references(n) } : { house_bill: `HB-${n}` });
      const updates = Array.from({ length: 40 }, (_, n) => createPatchCommand(id, changes(n)));
      for (const update of updates) await first.patchShipment(update);

      const other = createShipmentsReplica(store);
      const shipment_id = id;
      const found = await other.getShipment({ ...SAMPLE_SCOPE, shipment_id });
      expect(found?.record.version).toBe(41);
      const as_of = new Date(Date.parse(updates.at(-1)!.at) + 1).toISOString();
      expect(await other.getShipmentAt({ ...SAMPLE_SCOPE, shipment_id, as_of })).toEqual(found?.record);
      const [begun] = updates;
      expect((await other.patchShipment(begun!)).answer.shipment.references[0]?.value).toMatch(/^0貨/);

      const versions: number[] = [];
      let after: readonly (string | number)[] | undefined;
      do {
        const page = await other.listHistory({ ...SAMPLE_SCOPE, shipment_id, limit: 200, after });
        expect(JSON.stringify(page?.items).length).toBeLessThan(5_000_000);
        versions.push(...(page?.items ?? []).map(({ version }) => version));
        after = page?.next ?? undefined;
      } while (after !== undefined);
      expect(versions).toHaveLength(41);
      expect(versions).toEqual([...new Set(versions)].sort((one, next) => next - one));
      expect(mostAtOnce).toBeLessThanOrEqual(35);
    } finally {
      await engine.closeTestEngine();
    }
  });
});
