import type { EventEnvelope, JsonObject, Shipment, ShipmentException, WorkspaceSettings } from '@tracking/contracts';
import { eventually, scaleTimeout } from '@tracking/testing';
import type { AxiosInstance, AxiosResponse } from 'axios';
import { EndpointServer } from '../receiver.ts';
import type { SystemUnderTest } from '../subject.ts';
import { createReadAfterWriteHeaders, listAllItems, createKey, createTestTenant, type TestTenant } from '../tenant.ts';

const CONTAINER_NUMBER = 'CSQU3054383';
const HOUR_MS = 3_600_000;
const computeTimestampMsAgo = (ms: number) => new Date(Date.now() - ms).toISOString();
/**
 * Wait options. Time-driven exceptions open at the next run of the clock, and another gateway sees them with the next
 * event.
 */
const CLOCK_WAIT_OPTIONS = { deadlineMs: 30_000 };

export function declareExceptionTests(subject: () => SystemUnderTest): void {
  describe('exceptions', () => {
    let tenant: TestTenant;
    let receiver: EndpointServer;
    beforeEach(async () => {
      tenant = await createTestTenant(subject());
      receiver = await EndpointServer.startEndpointServer();
    }, scaleTimeout(30_000));
    afterEach(() => receiver.closeEndpointServer());

    const create = async (api: AxiosInstance, fields: object): Promise<Shipment> => {
      const { status, data } = await api.post<Shipment>('/v1/shipments', { mode: 'ocean', ...fields });
      expect(status).toBe(201);
      return data;
    };
    /** Returns the ids of the listed exceptions at each gateway, after the write is visible. */
    const listed = (params: object, written: AxiosResponse) =>
      Promise.all(
        tenant.gateways.map(async (gateway) =>
          (
            await listAllItems<ShipmentException>(
              gateway,
              '/v1/exceptions',
              { ...params },
              createReadAfterWriteHeaders(written),
            )
          ).map(({ id }) => id),
        ),
      );
    const everywhere = (ids: readonly string[]) => tenant.gateways.map(() => ids);
    const told = (type: string) =>
      [...receiver.bodies.keys()]
        .map((id) => receiver.findEvent(id))
        .filter((event) => event.type === (type as EventEnvelope['type']))
        .map(({ data }) => data['exception'] as JsonObject & ShipmentException);

    test(
      'exceptions are found by filters, assigned and resolved, and each step is delivered to subscribers',
      async () => {
        const { workspace, api: admin } = tenant;
        const { api } = await createKey(subject(), workspace, 'operator');
        const event_types = ['exception.opened', 'exception.updated', 'exception.resolved'];
        const hook = await receiver.createEnabledEndpoint(admin, '/all', { event_types });
        const standard = await receiver.createEnabledEndpoint(admin, '/standard');
        const held = await create(api, { external_id: 'HELD', container_numbers: [CONTAINER_NUMBER] });
        const bent = await create(api, { external_id: 'BENT', container_numbers: [CONTAINER_NUMBER] });

        const hold = {
          code: 'customs_hold',
          occurred_at: computeTimestampMsAgo(HOUR_MS),
          container_number: CONTAINER_NUMBER,
        };
        await api.post(`/v1/shipments/${held.id}/milestones`, hold);
        const found = {
          type: 'container_damage',
          severity: 'critical',
          container_number: CONTAINER_NUMBER,
          title: 'Door bent',
        };
        const opened = await api.post<ShipmentException>(`/v1/shipments/${bent.id}/exceptions`, found);
        const again = await api.post<ShipmentException>(`/v1/shipments/${bent.id}/exceptions`, found);
        expect([opened.status, again.status, again.data.id]).toEqual([201, 200, opened.data.id]);
        const damage = opened.data.id;
        const queue = await listAllItems<ShipmentException>(
          api,
          '/v1/exceptions',
          { sort: '-severity' },
          createReadAfterWriteHeaders(opened),
        );
        expect(
          queue.map(({ id, type, status, severity, detected_by }) => [id, type, status, severity, detected_by]),
        ).toEqual([
          [damage, 'container_damage', 'open', 'critical', 'manual'],
          [expect.stringMatching(/^exc_/), 'customs_hold', 'open', 'high', 'system'],
        ]);
        const customs = queue[1]?.id ?? '';
        for (const [params, ids] of [
          [{ status: 'open,acknowledged', sort: 'opened_at' }, [customs, damage]],
          [{ type: 'customs_hold' }, [customs]],
          [{ severity: 'critical' }, [damage]],
          [{ shipment_id: held.id }, [customs]],
          [{ unassigned: true, severity: 'high,critical', sort: '-opened_at' }, [damage, customs]],
          [{ status: 'resolved' }, []],
          [{ opened_to: bent.created_at, type: 'container_damage' }, []],
        ] as const) {
          expect(await listed(params, opened)).toEqual(everywhere(ids));
        }

        const assignee = 'kim@example.com';
        const taken = await api.post<ShipmentException>(`/v1/exceptions/${damage}/acknowledge`, {
          assignee,
          note: 'Mine.',
        });
        expect([taken.status, taken.data.status, taken.data.assignee]).toEqual([200, 'acknowledged', assignee]);
        expect(await listed({ assignee, status: 'acknowledged' }, taken)).toEqual(everywhere([damage]));
        expect(await listed({ unassigned: true }, taken)).toEqual(everywhere([customs]));
        const resolution = { code: 'waived', note: 'It closes.' };
        const done = await api.post<ShipmentException>(`/v1/exceptions/${damage}/resolve`, resolution);
        expect([done.status, done.data.status, done.data.resolution]).toEqual([
          200,
          'resolved',
          { ...resolution, by: expect.objectContaining({ type: 'service_account' }) },
        ]);
        const late = await api.post(`/v1/exceptions/${damage}/acknowledge`, { assignee });
        expect([late.status, late.data.error.code]).toEqual([409, 'exception_resolved']);
        const cleared = await api.post(`/v1/shipments/${held.id}/milestones`, {
          ...hold,
          code: 'export_customs_cleared',
          occurred_at: computeTimestampMsAgo(0),
        });
        expect(await listed({ status: 'open,acknowledged' }, cleared)).toEqual(everywhere([]));
        for (const gateway of tenant.gateways) {
          const one = await gateway.get<ShipmentException>(`/v1/exceptions/${customs}`, {
            headers: createReadAfterWriteHeaders(cleared),
          });
          expect(one.data).toMatchObject({ status: 'resolved', resolution: { code: 'auto_cleared' } });
          const path = `/v1/shipments/${bent.id}`;
          const { data } = await gateway.get<Shipment>(path, { headers: createReadAfterWriteHeaders(cleared) });
          expect(data.open_exceptions_count).toBe(0);
          const ofShipment = await listAllItems<ShipmentException>(
            gateway,
            `${path}/exceptions`,
            {},
            createReadAfterWriteHeaders(cleared),
          );
          expect(ofShipment).toEqual([removeWarnings(done.data)]);
        }

        await eventually(
          () =>
            expect(
              told('exception.resolved')
                .map(({ id }) => id)
                .sort(),
            ).toEqual([customs, damage].sort()),
          CLOCK_WAIT_OPTIONS,
        );
        await eventually(() => expect(hook.came.size).toBe(5), CLOCK_WAIT_OPTIONS);
        expect(
          told('exception.opened')
            .map(({ id }) => id)
            .sort(),
        ).toEqual([customs, damage].sort());
        expect(told('exception.updated')).toEqual([removeWarnings(taken.data)]);
        const updates = [...receiver.bodies.keys()].filter(
          (id) => receiver.findEvent(id).type === ('exception.updated' as EventEnvelope['type']),
        );
        await eventually(() => expect(standard.came.size).toBeGreaterThanOrEqual(6), CLOCK_WAIT_OPTIONS);
        expect(updates.filter((id) => standard.came.has(id))).toEqual([]);
        expect(receiver.faults).toEqual([]);
      },
      scaleTimeout(90_000),
    );

    test(
      'exceptions open when a deadline passes, are delivered, and are resolved by the next milestone',
      async () => {
        const { api } = tenant;
        await receiver.createEnabledEndpoint(api, '/clock');
        const etd = computeTimestampMsAgo(12 * HOUR_MS - 3_000);
        const due = Date.parse(etd) + 12 * HOUR_MS;
        const { id } = await create(api, { external_id: 'LATE', etd });
        await eventually(() => expect(told('exception.opened')).toHaveLength(1), CLOCK_WAIT_OPTIONS);
        const [overdue] = told('exception.opened');
        expect(overdue).toMatchObject({
          shipment_id: id,
          type: 'departure_overdue',
          detected_by: 'system',
          metrics: { etd },
        });
        expect(Date.parse(overdue?.opened_at ?? '')).toBeGreaterThanOrEqual(due);
        // The exception is readable when a receiver gets its event.
        for (const gateway of tenant.gateways) {
          const { data } = await gateway.get<Shipment>(`/v1/shipments/${id}`);
          expect(data.open_exceptions_count).toBe(1);
        }
        const departed = { code: 'vessel_departed', occurred_at: computeTimestampMsAgo(0) };
        const recorded = await api.post(`/v1/shipments/${id}/milestones`, departed);
        expect(await listed({ status: 'open' }, recorded)).toEqual(everywhere([]));
        await eventually(() => expect(told('exception.resolved')).toHaveLength(1), CLOCK_WAIT_OPTIONS);
      },
      scaleTimeout(90_000),
    );

    test(
      'after a change of thresholds, the exceptions of every open shipment are checked again, and the settings show the progress',
      async () => {
        const { api, gateways } = tenant;
        const shipments = await Promise.all(
          [6, 6, 2].map((hours, n) =>
            create(api, { external_id: `ETD-${n}`, etd: computeTimestampMsAgo(hours * HOUR_MS) }),
          ),
        );
        const overdue = shipments.slice(0, 2).map(({ id }) => id);
        const change = async (after_hours: number | null): Promise<void> => {
          const changed = await api.patch<WorkspaceSettings>('/v1/settings', {
            exceptions: { departure_overdue: { after_hours } },
          });
          expect(changed.data.recheck?.state).toBe('pending');
          for (const gateway of gateways) {
            await eventually(async () => {
              const { recheck, version } = (await gateway.get<WorkspaceSettings>('/v1/settings')).data;
              expect([version, recheck]).toEqual([
                changed.data.version,
                { state: 'done', checked: 3, started_at: expect.any(String), finished_at: expect.any(String) },
              ]);
            }, CLOCK_WAIT_OPTIONS);
          }
        };
        const open = async () => {
          const found = await listAllItems<ShipmentException>(api, '/v1/exceptions', { status: 'open' });
          return found.map(({ shipment_id, type }) => `${shipment_id} ${type}`).sort();
        };
        expect(await open()).toEqual([]);
        await change(4);
        await eventually(
          async () => expect(await open()).toEqual(overdue.map((id) => `${id} departure_overdue`).sort()),
          CLOCK_WAIT_OPTIONS,
        );
        await change(null);
        await eventually(async () => expect(await open()).toEqual([]), CLOCK_WAIT_OPTIONS);
        const ended = await listAllItems<ShipmentException>(api, '/v1/exceptions');
        expect(ended.map(({ resolution }) => resolution?.code)).toEqual(['auto_cleared', 'auto_cleared']);
      },
      scaleTimeout(120_000),
    );
  });
}

function removeWarnings(written: ShipmentException): ShipmentException {
  const { warnings: _warnings, ...exception } = written as ShipmentException & { readonly warnings: unknown };
  return exception;
}
