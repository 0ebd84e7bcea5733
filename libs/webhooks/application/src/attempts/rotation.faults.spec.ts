import { createHmac } from 'node:crypto';
import { jest } from '@jest/globals';
import { eventually, waitForSimulatedDelay } from '@tracking/testing';
import type { RetryPolicy } from '@tracking/webhooks-domain';
import Stripe from 'stripe';
import { type ReceivedRequest, createReceiverAnswer } from '../../test/fake-receivers.ts';
import { SimulatedKillableProcess } from '../../test/killable-process.ts';
import {
  type HarnessEndpoint,
  type RunningWebhooks,
  SAMPLE_SCOPE,
  WebhooksTestHarness,
} from '../../test/webhooks-test-harness.ts';

jest.setTimeout(120_000);

const URL_A = 'https://a.example.com/hook';
const SECOND_MS = 1_000;
const DAY_MS = 86_400 * SECOND_MS;
const POLICY: RetryPolicy = { firstMs: 20, factor: 2, capMs: 200, windowMs: 365 * DAY_MS };
const { webhooks: stripe } = new Stripe('sk_test_unused');

/** A secret of the endpoint, and the time after which it signs nothing, in epoch milliseconds of the harness. */
interface Known {
  readonly secret: string;
  expiresAt: number;
}
/** A delivery as received, and the secrets that it verifies with, by our header and by those of Standard Webhooks. */
interface Verified {
  readonly event: string;
  readonly at: number;
  readonly signedBy: readonly Known[];
}

let harness: WebhooksTestHarness;
let webhooks: RunningWebhooks;
let endpoint: HarnessEndpoint;
let secrets: Known[];
let verified: Verified[];
let published: Set<string>;
let endLoad: () => Promise<unknown>;

beforeEach(async () => {
  harness = await WebhooksTestHarness.openWebhooksHarness();
  webhooks = await harness.startWebhooks({ policy: POLICY });
  endpoint = await harness.createEnabledEndpoint(webhooks, URL_A);
  secrets = [{ secret: endpoint.secret, expiresAt: Infinity }];
  verified = [];
  published = new Set();
  const refused = new Set<string>();
  harness.receivers.setFakeReceiverBehaviour(URL_A, (request) => {
    if (request.headers['service-event-type'] === 'endpoint.verification')
      return harness.receivers.respondWithOk(request);
    const event = request.headers['service-event-id'] ?? '';
    verified.push({
      event,
      at: Date.parse(harness.now()),
      signedBy: secrets.filter((known) => verifies(request, known)),
    });
    // Every fifth attempt fails once, so that its retry may follow a rotation or the end of an overlap.
    if (verified.length % 5 > 0 || refused.has(event)) return createReceiverAnswer(200);
    refused.add(event);
    return createReceiverAnswer(500);
  });
  endLoad = () => Promise.resolve();
});
afterEach(async () => {
  await endLoad();
  await harness.closeWebhooksHarness();
});

/** Verifies with Stripe's library and by the Standard Webhooks specification: both or neither. */
function verifies({ headers, body }: ReceivedRequest, { secret }: Known): boolean {
  const [id, time] = [headers['webhook-id'] ?? '', headers['webhook-timestamp'] ?? ''];
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64');
  const mac = createHmac('sha256', key).update(`${id}.${time}.${body}`).digest('base64');
  const byStandard = (headers['webhook-signature'] ?? '').split(' ').includes(`v1,${mac}`);
  expect(byOurs(headers['service-signature'] ?? '', body, secret)).toBe(byStandard);
  return byStandard;
}

function byOurs(header: string, body: string, secret: string): boolean {
  try {
    stripe.constructEvent(body, header, secret);
    return true;
  } catch {
    return false;
  }
}

/** Publishes events one after the other, without end. */
function load(): void {
  let goesOn = true;
  const publishing = (async () => {
    while (goesOn) {
      const event = harness.addAcknowledgedEventToLog();
      await harness.publishEventsToBrokerForTest(event);
      published.add(event.id);
      await waitForSimulatedDelay(2);
    }
  })();
  endLoad = () => {
    goesOn = false;
    return publishing;
  };
}

/** Resolves after this many further deliveries. */
const moreCome = (count = 30) => {
  const enough = verified.length + count;
  return eventually(() => expect(verified.length).toBeGreaterThan(enough));
};

/** @param overlap in seconds */
async function rotate(api: RunningWebhooks, overlap?: number): Promise<Known> {
  const command = { ...harness.createSampleWebhookCommand(), endpoint_id: endpoint.id };
  const fresh: Known = { secret: '', expiresAt: Infinity };
  const given = overlap === undefined ? {} : { expires_in_seconds: overlap };
  const { secret } = await api.endpoints.rotateSecret({ ...command, ...given });
  const ends = Date.parse(command.at) + (overlap ?? 86_400) * SECOND_MS;
  for (const known of secrets) known.expiresAt = Math.min(known.expiresAt, ends);
  Object.assign(fresh, { secret });
  // Deliveries in between were signed by a secret that is not known yet.
  secrets = [fresh, ...secrets];
  return fresh;
}

/** Deliveries that verified with no secret valid at the time, or with an expired one. */
function faults(from = 0): readonly Verified[] {
  return verified.slice(from).filter(({ at, signedBy }) => {
    const isSigned = signedBy.some(({ expiresAt }) => at < expiresAt);
    return !isSigned || signedBy.some(({ expiresAt }) => at >= expiresAt + SECOND_MS);
  });
}

async function allDelivered(): Promise<void> {
  await endLoad();
  await eventually(async () => {
    const came = new Set(verified.map(({ event }) => event));
    expect([...published].filter((id) => !came.has(id))).toEqual([]);
    expect(await harness.listDeliveries(webhooks, { statuses: ['pending', 'retrying'] })).toEqual([]);
  });
}

describe('a secret that is rotated under load', () => {
  test('every delivery verifies with the old or new secret during the overlap, and only with the new one afterwards', async () => {
    load();
    await moreCome();
    for (let round = 0; round < 3; round += 1) {
      const [old] = secrets;
      const fresh = await rotate(webhooks);
      const from = verified.length;
      await moreCome();
      // Signed by both from here on.
      for (const { signedBy } of verified.slice(from)) expect(signedBy).toEqual(expect.arrayContaining([old, fresh]));
      harness.clockOffset += DAY_MS;
      const behind = verified.length;
      await moreCome();
      // A delivery signed right before the clock was advanced may arrive right after.
      const late = verified.slice(behind).filter(({ signedBy }) => signedBy.length > 1);
      expect(late.length).toBeLessThanOrEqual(16);
      for (const { signedBy } of verified.slice(-20)) expect(signedBy).toEqual([fresh]);
    }
    await allDelivered();
  });

  test('without an overlap, the old secret signs no attempt started after the response', async () => {
    load();
    await moreCome();
    const fresh = await rotate(webhooks, 0);
    const from = verified.length;
    await moreCome();
    for (const { signedBy } of verified.slice(from)) expect(signedBy).toEqual([fresh]);
    await allDelivered();
  });

  test('requested from one process while another sends and sometimes dies: every delivery verifies with a valid secret', async () => {
    const api = await harness.startWebhooks({}, new SimulatedKillableProcess(), harness.receivers, true);
    load();
    await moreCome();
    const learned = () => eventually(() => expect(verified.at(-1)?.signedBy).toContain(secrets[0]));
    for (let round = 0; round < 6; round += 1) {
      const answered = rotate(api);
      if (round % 2 === 0) webhooks.process.simulateProcessKill();
      await answered;
      if (round % 2 === 0) webhooks = await harness.startWebhooks({ policy: POLICY });
      await learned();
      await moreCome();
    }
    expect(faults()).toEqual([]);
    // At most five secrets are valid at once.
    expect(verified.at(-1)?.signedBy).toEqual(secrets.slice(0, 5));
    harness.clockOffset += DAY_MS + SECOND_MS;
    const behind = verified.length;
    await moreCome(50);
    expect(faults(behind + 16)).toEqual([]);
    expect(verified.at(-1)?.signedBy).toEqual([secrets[0]]);
    await allDelivered();
    const { secret, previous_secrets } = await api.endpoints.revealSecret({
      ...harness.createSampleWebhookCommand(SAMPLE_SCOPE),
      endpoint_id: endpoint.id,
    });
    expect([secret, previous_secrets]).toEqual([secrets[0]?.secret, []]);
  });
});
