import { jest } from '@jest/globals';
import { eventually } from '@tracking/testing';
import type { RetryPolicy } from '@tracking/webhooks-domain';
import { createReceiverAnswer } from '../../test/fake-receivers.ts';
import { SimulatedKillableProcess } from '../../test/killable-process.ts';
import { SAMPLE_SCOPE, WebhooksTestHarness } from '../../test/webhooks-test-harness.ts';
import type { WorkspaceScope } from '../operation-types.ts';

jest.setTimeout(240_000);

const FAILING = 'webhook_endpoint.failing';
const DEAD = 'webhook_delivery.dead_lettered';
const MINUTE = 60_000;
/** Again after a minute, and for the last time after two hours. */
const POLICY: RetryPolicy = { firstMs: MINUTE, factor: 1_000, capMs: 120 * MINUTE, windowMs: 120 * MINUTE };
const URLS = ['faulty', 'told', 'told-too'] as const;

let harness: WebhooksTestHarness;
beforeEach(async () => {
  harness = await WebhooksTestHarness.openWebhooksHarness();
});
afterEach(() => harness.closeWebhooksHarness());

/**
 * Two events for an endpoint that answers none. The process that owns it dies at the given outgoing call, and another
 * one continues. Returns whether the first survived, and the deliveries and arrivals at the other endpoints.
 */
async function run(dieAt: number, before: boolean) {
  const scope: WorkspaceScope = { ...SAMPLE_SCOPE, workspace_id: `wsp_${dieAt}_${String(before)}` };
  const [faulty, ...others] = URLS.map((name) => `https://${name}.example.com/${scope.workspace_id}`);
  const setUp = await harness.startWebhooks({ policy: POLICY });
  const { id } = await harness.createEnabledEndpoint(
    setUp,
    String(faulty),
    { event_types: ['*', FAILING, DEAD] },
    scope,
  );
  for (const url of others) await harness.createEnabledEndpoint(setUp, url, { event_types: [FAILING, DEAD] }, scope);
  harness.receivers.setFakeReceiverBehaviour(String(faulty), () => createReceiverAnswer(500));
  await harness.publishEventsToBrokerForTest(
    harness.addAcknowledgedEventToLog(scope),
    harness.addAcknowledgedEventToLog(scope),
  );
  const attempted = (times: number, webhooks = setUp) =>
    eventually(async () => {
      const found = await harness.listDeliveries(webhooks, { endpoint_id: id }, scope);
      expect(found.map(({ attempts_count }) => attempts_count)).toEqual([times, times]);
    });
  await attempted(1);
  harness.clockOffset += 2 * MINUTE;
  await attempted(2);
  await setUp.stop();

  const mortal = new SimulatedKillableProcess(dieAt, before);
  const first = await harness.startWebhooks({ policy: POLICY }, mortal);
  const told = async (type: string, times: number) => {
    const found = await harness.listDeliveries(setUp, { event_types: [type], statuses: ['succeeded'] }, scope);
    expect(found).toHaveLength(times);
  };
  const unlessDead = (check: () => Promise<void>) =>
    eventually(async () => {
      if (!mortal.dead) await check();
    });
  harness.clockOffset += 60 * MINUTE;
  await unlessDead(() => told(FAILING, 2));
  harness.clockOffset += 60 * MINUTE;
  await unlessDead(() => told(DEAD, 4));
  // The announcement is not marked yet, so the process may die while it is stopped, too.
  let stopped = false;
  void first.stop().then(() => (stopped = true));
  await eventually(() => expect(stopped || mortal.dead).toBe(true));
  const lived = stopped;

  const second = await harness.startWebhooks({ policy: POLICY });
  await eventually(async () => {
    await told(FAILING, 2);
    await told(DEAD, 4);
  });
  await second.stop();
  const recorded = await harness.listDeliveries(setUp, {}, scope);
  const events = (type: string) => new Set(recorded.flatMap((one) => (one.event_type === type ? [one.event_id] : [])));
  const arrived = others.map(
    (url) =>
      new Set(harness.receivers.listDeliveriesReceivedAtUrl(url).map(({ headers }) => headers['service-event-id'])),
  );
  return {
    lived,
    outcome: {
      ...{ dieAt, deliveries: recorded.length, failing: events(FAILING).size, dead: events(DEAD).size },
      arrived: arrived.map(({ size }) => size),
      toItself: recorded.filter(({ endpoint_id }) => endpoint_id === id).length,
    },
  };
}

test.each([
  ['before', true],
  ['after', false],
])(
  'a process that dies right %s any of its calls: everything is announced, with one id and one delivery each',
  async (_, before) => {
    for (let dieAt = 1; ; dieAt += 1) {
      const { lived, outcome } = await run(dieAt, before);
      expect(outcome).toEqual({ dieAt, deliveries: 8, failing: 1, dead: 2, arrived: [3, 3], toItself: 2 });
      if (lived) return expect(dieAt).toBeGreaterThan(10);
      expect(dieAt).toBeLessThan(200);
    }
  },
);
