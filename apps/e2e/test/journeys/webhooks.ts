import { randomBytes } from 'node:crypto';
import { API_VERSIONS, type EventEnvelope } from '@tracking/contracts';
import { eventually, scaleTimeout, waitForSimulatedDelay } from '@tracking/testing';
import { EndpointServer } from '../receiver.ts';
import { runCliJson, type SystemUnderTest } from '../subject.ts';
import { listAllItems, createTestTenant, createShipmentReturningEvent, type TestTenant } from '../tenant.ts';
import { readTopic } from '../topic.ts';

interface Delivery {
  readonly id: string;
  readonly event_id: string;
  readonly status: string;
  readonly sandbox: boolean;
  readonly attempts_count: number;
  readonly attempts: readonly { readonly number: number; readonly status_code: number; readonly manual: boolean }[];
  readonly payload: unknown;
}

/** Fields of a message of the dead-letter topic. */
interface DeadLetterTopicMessage {
  readonly endpoint: object;
  readonly latest_attempts: readonly object[];
  readonly replay: { readonly command: string };
}

interface DeliveryStats {
  readonly hours: readonly {
    readonly attempts: { readonly succeeded: number; readonly failed: number };
    readonly deliveries: { readonly succeeded: number };
  }[];
  readonly waiting: { readonly count: number; readonly oldest_at: string | null };
  readonly last_success_at: string | null;
  readonly last_error: { readonly at: string; readonly status_code: number | null } | null;
}

const LONG_WAIT_OPTIONS = { deadlineMs: 60_000 };
const MASKED_HEADER_VALUE = '********';
/** Milliseconds after the first attempt until which receivers fail attempts. The retry window is one second longer. */
const FAILURE_TOLERANCE_MS = 2_000;
/** Milliseconds that a receiver takes per delivery, so that other deliveries queue. */
const RECEIVER_WORK_MS_PER_DELIVERY = 100;

export function declareWebhookTests(subject: () => SystemUnderTest): void {
  describe('webhooks', () => {
    let tenant: TestTenant;
    let receiver: EndpointServer;
    beforeEach(async () => {
      tenant = await createTestTenant(subject());
      receiver = await EndpointServer.startEndpointServer();
    }, scaleTimeout(30_000));
    afterEach(async () => {
      expect(receiver.faults).toEqual([]);
      await receiver.closeEndpointServer();
    });

    const at = (id: string, step = '') => `/v1/webhook_endpoints/${id}${step && `/${step}`}`;
    const event = (external_id: string, headers = {}) => createShipmentReturningEvent(tenant.api, external_id, headers);
    const deliveries = (params: Readonly<Record<string, string>>) =>
      listAllItems<Delivery>(tenant.api, '/v1/webhook_deliveries', params);
    const only = async (params: Readonly<Record<string, string>>): Promise<Delivery> => {
      const [delivery, ...others] = await deliveries(params);
      expect([delivery, others]).toEqual([expect.anything(), []]);
      return (await tenant.api.get<Delivery>(`/v1/webhook_deliveries/${delivery?.id}`)).data;
    };

    test(
      'an endpoint is created, verified, tested, enabled, disabled, enabled again and deleted',
      async () => {
        const { api } = tenant;
        const witness = await receiver.createEnabledEndpoint(api, '/witness');
        const hook = await receiver.createEndpoint(api, '/hook');
        const tooEarly = await api.post(at(hook.id, 'enable'));
        expect([tooEarly.status, tooEarly.data.error.code]).toEqual([409, 'endpoint_not_verified']);
        const verified = await api.post(at(hook.id, 'verify'));
        expect(verified.data).toMatchObject({ status: 'verified', last_verification: { ok: true } });

        const tested = await api.post<Delivery>(at(hook.id, 'test'), { type: 'milestone.recorded' });
        expect([tested.status, tested.data.sandbox]).toEqual([202, true]);
        const sandbox = tested.data.event_id;
        await eventually(() => expect(hook.came.get(sandbox)).toBe(1), LONG_WAIT_OPTIONS);
        expect(receiver.findEvent(sandbox)).toMatchObject({ type: 'milestone.recorded', sandbox: true });

        const told = async (external_id: string) => {
          const { id } = await event(external_id);
          await eventually(() => expect(witness.came.get(id)).toBe(1), LONG_WAIT_OPTIONS);
          return id;
        };
        const before = await told('BEFORE');
        expect((await api.post(at(hook.id, 'enable'))).data.status).toBe('enabled');
        const first = await told('FIRST');
        await eventually(() => expect(hook.came.get(first)).toBe(1), LONG_WAIT_OPTIONS);
        expect((await api.post(at(hook.id, 'disable'))).data).toMatchObject({
          status: 'disabled',
          disabled_reason: 'manual',
        });
        const meanwhile = await told('MEANWHILE');
        expect((await api.post(at(hook.id, 'enable'))).data.status).toBe('enabled');
        const second = await told('SECOND');
        await eventually(() => expect(hook.came.get(second)).toBe(1), LONG_WAIT_OPTIONS);
        expect([...hook.came.keys()].sort()).toEqual([sandbox, first, second].sort());
        expect([await deliveries({ endpoint_id: hook.id, event_id: before }), hook.came.has(meanwhile)]).toEqual([
          [],
          false,
        ]);

        expect((await api.delete(at(hook.id))).status).toBe(200);
        expect((await api.get(at(hook.id))).status).toBe(404);
        const afterwards = await told('AFTERWARDS');
        expect(hook.came.has(afterwards)).toBe(false);
        const log = await deliveries({ endpoint_id: hook.id });
        expect(log.map(({ event_id }) => event_id).sort()).toEqual([sandbox, first, second].sort());
      },
      scaleTimeout(180_000),
    );

    test(
      'an endpoint gets its custom headers, its payload version, and no more than its allowed concurrency',
      async () => {
        const { api } = tenant;
        const api_version = API_VERSIONS[0];
        const fields = { api_version, headers: { 'x-token': 'KEPT', 'x-route': 'FIRST' }, max_concurrency: 1 };
        const hook = await receiver.createEnabledEndpoint(api, '/hook', fields);
        const shown = (await api.get(at(hook.id))).data;
        expect(shown).toMatchObject({ api_version, max_concurrency: 1 });
        expect(shown.headers).toEqual({ 'x-token': MASKED_HEADER_VALUE, 'x-route': MASKED_HEADER_VALUE });
        const { id } = await event('HEADERS');
        await eventually(() => expect(hook.headers.get(id)).toMatchObject(fields.headers), LONG_WAIT_OPTIONS);
        expect(receiver.findEvent(id)).toMatchObject({ id, api_version });

        const headers = { 'x-token': MASKED_HEADER_VALUE, 'x-route': 'SECOND' };
        const changed = await api.patch(at(hook.id), { headers });
        expect([changed.status, changed.data.headers]).toEqual([200, shown.headers]);
        let turn = 0;
        // Another replica may send the event. It applies the change within a second.
        await eventually(async () => {
          const later = await event(`CHANGED-${(turn += 1)}`);
          await eventually(() => expect(hook.came.has(later.id)).toBe(true), LONG_WAIT_OPTIONS);
          expect(hook.headers.get(later.id)).toMatchObject({ 'x-token': 'KEPT', 'x-route': 'SECOND' });
        }, LONG_WAIT_OPTIONS);
        const unknown = await api.patch(at(hook.id), { api_version: '2020-01-01' });
        expect([unknown.status, (await api.get(at(hook.id))).data.api_version]).toEqual([400, api_version]);

        hook.behave = () => waitForSimulatedDelay(RECEIVER_WORK_MS_PER_DELIVERY).then(() => 204);
        const before = hook.came.size;
        const shipments = Array.from({ length: 8 }, (_, n) => ({ external_id: `AT-ONCE-${n}` }));
        expect((await api.post('/v1/shipments/bulk', { shipments })).status).toBe(200);
        await eventually(() => expect(hook.came.size).toBe(before + shipments.length), LONG_WAIT_OPTIONS);
        expect([hook.mostAtOnce, hook.excesses]).toEqual([1, []]);
      },
      scaleTimeout(180_000),
    );

    test(
      'failed deliveries are retried in the trace of their request, and every attempt is recorded',
      async () => {
        const hook = await receiver.createEnabledEndpoint(tenant.api, '/hook');
        // An attempt that fails after the retry window is the last one, and a busy machine may delay the second attempt.
        const answers: number[] = [];
        let firstAt = Infinity;
        hook.behave = (_event, came, { at: arrivedAt }) => {
          firstAt = Math.min(firstAt, arrivedAt);
          const answer = came < 3 && arrivedAt - firstAt < FAILURE_TOLERANCE_MS ? 500 : 204;
          answers.push(answer);
          return answer;
        };
        const trace = randomBytes(16).toString('hex');
        const { id } = await event('RETRIED', { traceparent: `00-${trace}-00f067aa0ba902b7-01` });
        await eventually(async () => {
          const delivery = await only({ event_id: id });
          expect(delivery).toMatchObject({ status: 'succeeded', attempts_count: answers.length });
          expect(delivery.attempts.map(({ status_code }) => status_code)).toEqual(answers);
          expect(delivery.payload).toEqual(receiver.findEvent(id));
        }, LONG_WAIT_OPTIONS);
        expect(answers.length).toBeGreaterThan(1);
        // Statistics are stored within seconds. They can extend over two hours if an hour ended meanwhile.
        await eventually(async () => {
          const { data } = await tenant.api.get<DeliveryStats>(at(hook.id, 'stats'));
          const sum = (count: (hour: DeliveryStats['hours'][number]) => number) =>
            data.hours.reduce((total, hour) => total + count(hour), 0);
          expect(sum(({ attempts }) => attempts.succeeded)).toBe(1);
          expect(sum(({ attempts }) => attempts.failed)).toBe(answers.length - 1);
          expect(sum(({ deliveries }) => deliveries.succeeded)).toBe(1);
          expect(data).toMatchObject({ waiting: { count: 0, oldest_at: null }, last_error: { status_code: 500 } });
          expect(Date.parse(data.last_success_at ?? '')).toBeGreaterThan(Date.parse(data.last_error?.at ?? ''));
        }, LONG_WAIT_OPTIONS);
        const traces = hook.traces.get(id) ?? [];
        expect(traces.map((traceparent) => traceparent.slice(0, 36))).toEqual(answers.map(() => `00-${trace}-`));
        expect(new Set(traces).size).toBe(answers.length);
      },
      scaleTimeout(90_000),
    );

    test(
      'another endpoint is notified of a failing endpoint and of each dead letter',
      async () => {
        const { api } = tenant;
        const hook = await receiver.createEnabledEndpoint(api, '/hook');
        hook.behave = () => 500;
        const event_types = ['webhook_endpoint.failing', 'webhook_delivery.dead_lettered'];
        const alarm = await receiver.createEnabledEndpoint(api, '/alarm', { event_types });
        const [one, two] = [await event('LOST-1'), await event('LOST-2')];
        const told = () => [...alarm.came.keys()].map((id) => receiver.findEvent(id));
        const subjects = () =>
          told().map(({ type, data }) => [type, (data['delivery'] as Delivery | undefined)?.event_id]);
        await eventually(
          () =>
            expect(subjects().sort()).toEqual(
              [[event_types[0], undefined], ...[one, two].map(({ id }) => [event_types[1], id])].sort(),
            ),
          LONG_WAIT_OPTIONS,
        );
        for (const { data } of told()) {
          expect(data).toMatchObject({ endpoint: { id: hook.id }, reason: { code: 'unexpected_status' } });
        }
        // A duplicate notification would be delivered before the next dead letter.
        const three = await event('LOST-3');
        await eventually(() => expect(subjects()).toContainEqual([event_types[1], three.id]), LONG_WAIT_OPTIONS);
        expect(subjects().filter(([type]) => type === event_types[0])).toHaveLength(1);
        expect(await deliveries({ endpoint_id: alarm.id })).toHaveLength(4);
        const listed = await listAllItems<EventEnvelope>(api, '/v1/events');
        expect(listed.filter(({ id }) => alarm.came.has(id))).toEqual([]);
        for (const type of event_types) {
          const tested = await api.post<Delivery>(at(alarm.id, 'test'), { type });
          await eventually(() => expect(alarm.came.get(tested.data.event_id)).toBe(1), LONG_WAIT_OPTIONS);
          expect(receiver.findEvent(tested.data.event_id)).toMatchObject({ type, sandbox: true });
        }
      },
      scaleTimeout(120_000),
    );

    test(
      'a delivery that keeps failing becomes a dead letter, which a client retries and an operator replays',
      async () => {
        const hook = await receiver.createEnabledEndpoint(tenant.api, '/hook');
        hook.behave = () => 500;
        const [one, two] = [await event('DEAD-1'), await event('DEAD-2')];
        await eventually(
          async () => expect(await deliveries({ status: 'dead_lettered' })).toHaveLength(2),
          LONG_WAIT_OPTIONS,
        );
        hook.behave = () => 204;
        const dead = await only({ event_id: one.id });
        expect((await tenant.api.post(`/v1/webhook_deliveries/${dead.id}/retry`)).status).toBe(202);
        await eventually(
          async () => expect((await only({ event_id: one.id })).status).toBe('succeeded'),
          LONG_WAIT_OPTIONS,
        );
        expect((await only({ event_id: one.id })).attempts.at(-1)).toMatchObject({ status_code: 204, manual: true });

        const where = ['--workspace', tenant.workspace];
        const { data } = await runCliJson<{ data: Delivery[] }>(subject(), 'dead-letters', 'list', ...where);
        expect(data.map(({ event_id }) => event_id)).toEqual([two.id]);
        expect(await runCliJson(subject(), 'dead-letters', 'summary', ...where)).toMatchObject({
          count: 1,
          by_reason: [{ reason: 'unexpected_status', count: 1 }],
        });
        const which = ['--endpoint', hook.id, '--reason', 'unexpected_status', ...where];
        expect(await runCliJson(subject(), 'dead-letters', 'replay', '--wait', ...which)).toMatchObject({
          data: [{ endpoint_id: hook.id, action: 'replay', status: 'completed', matched: 1, done: 1 }],
          refused: [],
        });
        await eventually(
          async () => expect((await only({ event_id: two.id })).status).toBe('succeeded'),
          LONG_WAIT_OPTIONS,
        );
        expect(await runCliJson(subject(), 'dead-letters', 'list', ...where)).toMatchObject({ data: [] });

        hook.behave = () => 500;
        const three = await event('DEAD-3');
        await eventually(
          async () => expect((await only({ event_id: three.id })).status).toBe('dead_lettered'),
          LONG_WAIT_OPTIONS,
        );
        const discarded = await tenant.api.post('/v1/webhook_dead_letters/discard', { endpoint_id: hook.id });
        expect([discarded.status, discarded.data.data]).toMatchObject([202, [{ action: 'discard' }]]);
        await eventually(
          async () => expect((await only({ event_id: three.id })).status).toBe('discarded'),
          LONG_WAIT_OPTIONS,
        );
        expect((await tenant.api.get('/v1/webhook_dead_letters/summary')).data).toMatchObject({ count: 0 });
      },
      scaleTimeout(180_000),
    );

    test(
      'a dead letter is delivered by the command in its topic message',
      async () => {
        const { kafkaBrokers } = subject();
        const headers = { 'x-token': 'NOT-TOLD' };
        const hook = await receiver.createEnabledEndpoint(tenant.api, '/hook', { headers, description: 'Ours' });
        hook.behave = () => 500;
        const { id: event_id, workspace_id } = await event('DEAD');
        const dead = await eventually(async () => {
          const delivery = await only({ event_id });
          expect(delivery.status).toBe('dead_lettered');
          return delivery;
        }, LONG_WAIT_OPTIONS);
        let command = `dead-letters replay ${dead.id} --all-workspaces`;
        if (kafkaBrokers !== undefined) {
          const found = await eventually(async () => {
            const messages = await readTopic(kafkaBrokers, 'webhook-dead-letters');
            const message = messages.find((each) => each.headers['delivery-id'] === dead.id);
            expect(message).toBeDefined();
            return message;
          }, LONG_WAIT_OPTIONS);
          expect([found?.key, found?.headers['event-id']]).toEqual([hook.id, event_id]);
          const text = String(found?.value);
          const told = JSON.parse(text) as DeadLetterTopicMessage;
          expect(told).toMatchObject({
            ...{ id: dead.id, event_id, event_type: 'shipment.created', status: 'dead_lettered' },
            ...{ workspace_id, environment: 'live', reason: 'unexpected_status' },
            event: receiver.findEvent(event_id),
            replay: { method: 'POST', body: { delivery_ids: [dead.id] } },
          });
          const { id } = hook;
          expect(told.endpoint).toEqual({
            id,
            url: receiver.formatEndpointUrl('/hook'),
            description: 'Ours',
            status: 'enabled',
          });
          const latest = dead.attempts.slice(-3).map(({ number, status_code }) => ({ number, status_code }));
          expect(told.latest_attempts).toMatchObject(latest);
          expect(latest.at(-1)).toEqual({ number: dead.attempts_count, status_code: 500 });
          for (const secret of [...hook.secrets, 'whsec_', headers['x-token'], 'x-token'])
            expect(text).not.toContain(secret);
          ({ command } = told.replay);
        }
        hook.behave = () => 204;
        expect(await runCliJson(subject(), ...command.split(' '), '--wait')).toMatchObject({
          data: [{ endpoint_id: hook.id, action: 'replay', status: 'completed', matched: 1, done: 1, failed: 0 }],
          refused: [],
        });
        expect((await only({ event_id })).status).toBe('succeeded');
        expect(hook.came.get(event_id)).toBe(dead.attempts_count + 1);
      },
      scaleTimeout(150_000),
    );
  });
}
