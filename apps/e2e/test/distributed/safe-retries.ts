import { randomUUID } from 'node:crypto';
import type { Milestone, Shipment } from '@tracking/contracts';
import { SERVICE_NAMES } from '@tracking/system';
import { IS_SOAK_RUN, eventually, scaleTimeout, waitForSimulatedDelay } from '@tracking/testing';
import type { AxiosInstance, AxiosResponse } from 'axios';
import { listItemsAfterAllWrites } from '../tenant.ts';
import { setUpServicesWithReceiver } from './services-with-receiver.ts';

const CONCURRENT_REQUEST_COUNT = 50;
/** Milliseconds after which each replica is killed: before, during and after the first request is executed. */
const KILL_DELAYS_MS = IS_SOAK_RUN ? [0, 40, 120] : [40];
/** Milliseconds between a rejected request and the client's next attempt. */
const RETRY_DELAY_MS = 300;
/** Wait options. A claim of a crashed gateway expires after 15 s. */
const LONG_WAIT_OPTIONS = { deadlineMs: 60_000 };

/**
 * Returns the response without headers that may differ. Repeats return the response byte for byte; only
 * `Consistency-Token` may be later.
 */
function serializeResponseForComparison({ status, data, headers }: AxiosResponse<string>): string {
  const names = ['content-type', 'location', 'etag'];
  return JSON.stringify([status, data, names.map((name) => headers[name] ?? null)]);
}

export function declareSafeRetryTests(): void {
  const stage = setUpServicesWithReceiver();

  /** Repeats requests that get 503, or a list that may lack writes. */
  const listed = <T>(path: string, params = {}) =>
    eventually(() => listItemsAfterAllWrites<T>(stage.tenant.api, path, params), LONG_WAIT_OPTIONS);

  /**
   * Creates a function that sends the requests through both gateways in turn. It collects the distinct responses of
   * each request.
   */
  function createRepeatedRequestSender(requests: readonly (readonly [path: string, body: object | undefined])[]) {
    const named = requests.map(([path, body]) => ({ path, body, name: randomUUID(), answers: new Set<string>() }));
    const send = async (api: AxiosInstance, index: number): Promise<number> => {
      const request = named[index % named.length];
      if (!request) throw new Error('no request');
      const headers = { 'Idempotency-Key': request.name };
      const options = { headers, transformResponse: (text: string) => text };
      const answer = await api.post<string>(request.path, request.body, options);
      if (answer.status < 300) request.answers.add(serializeResponseForComparison(answer));
      else if (answer.status !== 409 && answer.status !== 503) throw new Error(`${answer.status} ${answer.data}`);
      else await waitForSimulatedDelay(RETRY_DELAY_MS);
      return answer.status;
    };
    const fifty = async (until: (status: number) => void) => {
      const turns = Array.from({ length: CONCURRENT_REQUEST_COUNT }, (_, turn) => turn);
      const attempt = (turn: number) => async () => until(await send(stage.tenant.api, turn));
      await Promise.all(turns.map((turn) => eventually(attempt(turn), LONG_WAIT_OPTIONS)));
    };
    return { named, fifty };
  }

  test.each(SERVICE_NAMES.flatMap((service) => KILL_DELAYS_MS.map((ms) => [service, ms] as const)))(
    'and kill -9 of a %s after %d ms: one resource, one response',
    async (service, afterMs) => {
      const { data: shipment } = await stage.tenant.api.post<Shipment>('/v1/shipments', { house_bill: randomUUID() });
      const house_bill = randomUUID();
      const url = `https://example.com/${randomUUID()}`;
      const { named, fifty } = createRepeatedRequestSender([
        ['/v1/shipments', { house_bill }],
        [`/v1/shipments/${shipment.id}/milestones`, { code: 'gated_in', occurred_at: '2026-01-01T00:00:00Z' }],
        ['/v1/webhook_endpoints', { url, event_types: ['*'] }],
        [`/v1/webhook_endpoints/${stage.hook.id}/test`, { type: 'shipment.created' }],
      ]);
      const tests = async () => {
        const deliveries = await listed<{ sandbox: boolean }>(`/v1/webhook_deliveries`, { endpoint_id: stage.hook.id });
        return deliveries.filter(({ sandbox }) => sandbox).length;
      };
      const testsBefore = await tests();
      const replica = stage.services.system.services[service][0]?.process;
      if (!replica) throw new Error(`no ${service}`);
      const sending = fifty((status) => expect(status).toBeLessThan(300));
      await waitForSimulatedDelay(afterMs);
      await replica.killProcess();
      try {
        await sending;
      } finally {
        await replica.startProcess();
      }
      expect(named.map(({ path, answers }) => [path, answers.size])).toEqual(named.map(({ path }) => [path, 1]));
      const shipments = await listed<Shipment>('/v1/shipments');
      expect(shipments.filter((one) => one.house_bill === house_bill)).toHaveLength(1);
      expect(await listed<Milestone>(`/v1/shipments/${shipment.id}/milestones`)).toHaveLength(1);
      expect(await tests()).toBe(testsBefore + 1);
      const endpoints = await listed<{ id: string; url: string }>('/v1/webhook_endpoints');
      const made = endpoints.filter((endpoint) => endpoint.url === url);
      expect(made).toHaveLength(1);
      await stage.tenant.api.delete(`/v1/webhook_endpoints/${made[0]?.id}`);
      const reused = await stage.tenant.api.post(
        '/v1/shipments',
        {},
        { headers: { 'Idempotency-Key': named[0]?.name ?? '' } },
      );
      expect([reused.status, reused.data.error.code]).toEqual([409, 'idempotency_key_reused']);
    },
    scaleTimeout(150_000),
  );
}
