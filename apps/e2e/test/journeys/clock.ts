import type { EventEnvelope, JsonObject, Shipment, ShipmentException } from '@tracking/contracts';
import { eventually, scaleTimeout } from '@tracking/testing';
import type { AxiosInstance } from 'axios';
import { EndpointServer } from '../receiver.ts';
import type { SystemUnderTest } from '../subject.ts';
import { createTestTenant } from '../tenant.ts';

const HOUR_MS = 3_600_000;
/** Milliseconds until the departure of the first shipment becomes overdue; doubled for each later shipment. */
const TEST_WAIT_UNTIL_DEPARTURE_OVERDUE_MS = 1_500;
const LONG_WAIT_OPTIONS = { deadlineMs: 30_000 };

/**
 * Creates a shipment whose departure becomes overdue soon, but after the shipment is stored. On a busy machine, the
 * departure may already be overdue when the shipment is stored. Then creates another shipment with more time.
 */
async function createShipmentWithDepartureOverdueSoon(
  api: AxiosInstance,
): Promise<{ readonly id: string; readonly due: number }> {
  for (let dueIn = TEST_WAIT_UNTIL_DEPARTURE_OVERDUE_MS; ; dueIn *= 2) {
    const due = Date.now() + dueIn;
    const etd = new Date(due - 12 * HOUR_MS).toISOString();
    const { status, data } = await api.post<Shipment>('/v1/shipments', { house_bill: 'HB-1', mode: 'ocean', etd });
    expect(status).toBe(201);
    if (data.open_exceptions_count === 0) return { id: data.id, due };
    expect(Date.now()).toBeGreaterThanOrEqual(due);
  }
}

export function declareTimeDrivenExceptionTests(subject: () => SystemUnderTest): void {
  test(
    'an overdue departure opens one exception without a request, and a departure resolves it; both events are delivered',
    async () => {
      const { api } = await createTestTenant(subject());
      const receiver = await EndpointServer.startEndpointServer();
      try {
        const hook = await receiver.createEnabledEndpoint(api, '/exceptions', {
          event_types: ['exception.opened', 'exception.resolved'],
        });
        const exceptionOf = ({ data }: EventEnvelope) => data['exception'] as JsonObject & ShipmentException;
        const { id, due } = await createShipmentWithDepartureOverdueSoon(api);
        const path = `/v1/shipments/${id}`;
        const told = () =>
          [...hook.came.keys()]
            .map((came) => receiver.findEvent(came))
            .filter((event) => exceptionOf(event).shipment_id === id);

        await eventually(() => expect(told()).toHaveLength(1), LONG_WAIT_OPTIONS);
        const [opened] = told() as [EventEnvelope];
        expect(opened.type).toBe('exception.opened');
        expect(exceptionOf(opened)).toMatchObject({
          shipment_id: id,
          type: 'departure_overdue',
          status: 'open',
          detected_by: 'system',
        });
        expect(Date.parse(opened.created_at)).toBeGreaterThanOrEqual(due);
        // The exception is readable when a receiver gets its event.
        expect((await api.get<Shipment>(path)).data.open_exceptions_count).toBe(1);

        const departed = await api.post(`${path}/milestones`, {
          code: 'vessel_departed',
          occurred_at: new Date().toISOString(),
        });
        expect(departed.status).toBe(201);
        await eventually(() => expect(told()).toHaveLength(2), LONG_WAIT_OPTIONS);
        const resolved = told().find(({ type }) => type === 'exception.resolved')!;
        expect(exceptionOf(resolved)).toMatchObject({
          id: exceptionOf(opened).id,
          resolution: { code: 'auto_cleared' },
        });
        expect((await api.get<Shipment>(path)).data.open_exceptions_count).toBe(0);
        expect(told().map((event) => hook.came.get(event.id))).toEqual([1, 1]);
      } finally {
        await receiver.closeEndpointServer();
      }
    },
    scaleTimeout(90_000),
  );
}
