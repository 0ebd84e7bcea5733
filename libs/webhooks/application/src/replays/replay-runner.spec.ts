import { BusyError, type Lease, UnavailableError } from '@tracking/ports';
import {
  DEFAULT_RETRY_POLICY,
  INITIAL_ENDPOINT_STATE,
  createDelivery,
  resetDeliveryRetrySchedule,
} from '@tracking/webhooks-domain';
import type { EndpointDocument } from '../endpoints/endpoint-document.ts';
import { OwnedEndpoint } from '../scheduling/owned-endpoint.ts';
import { type DeliveryDocument, convertToDeliveryDocument } from '../store/delivery-document.ts';
import { createReplayDocument } from './replay-store.ts';
import { ReplayRunner, type ReplayRunnerDependencies } from './replay-runner.ts';
import { ReplaySender } from './replay-sender.ts';
import { NEVER_SET_PROCESS_CLOCK } from '../../test/unset-clock.ts';

const TIMING = { time: NEVER_SET_PROCESS_CLOCK, policy: DEFAULT_RETRY_POLICY };

const AT = '2026-01-01T00:00:00.000Z';
const SCOPE = { workspace_id: 'wsp_1', environment: 'live' } as const;
const ENDPOINT = {
  ...INITIAL_ENDPOINT_STATE,
  ...SCOPE,
  id: 'whe_1',
  status: 'enabled',
  max_concurrency: 16,
  revision: 1,
};
const DEAD = convertToDeliveryDocument({
  ...createDelivery(
    {
      ...{ ...SCOPE, id: 'dlv_1', endpoint_id: 'whe_1', payload_id: 'p', sandbox: false },
      ...{ event_id: 'evt_1', event_type: 'shipment.created', event_created_at: AT },
    },
    AT,
  ),
  ...{ status: 'dead_lettered', completed_at: AT, announced_at: AT, next_attempt_at: null },
});

/** An endpoint whose replay finds one dead letter. @param sending called while the replay sends it */
async function replaying(sending: (owned: OwnedEndpoint) => void): Promise<OwnedEndpoint> {
  const owned = new OwnedEndpoint(
    ENDPOINT as unknown as EndpointDocument,
    { isLeaseHeld: () => true } as Lease,
    true,
    TIMING,
  );
  owned.state.restoreEndpointHealth(undefined, { recoveryAfterMs: 600_000, random: () => 0 });
  const filter = { since: null, until: AT, event_types: null, statuses: ['dead_lettered'], reasons: null } as const;
  const about = { ...SCOPE, id: 'rpl_1', endpoint_id: 'whe_1', action: 'replay' } as const;
  let stored = createReplayDocument({ ...about, ...filter }, AT);
  const store = {
    findRunningReplay: () => Promise.resolve(stored),
    getReplay: () => Promise.resolve(stored),
    storeReplayProgress: (_before: object, change: object) => Promise.resolve((stored = { ...stored, ...change })),
  };
  const queries = { findDeliveries: () => Promise.resolve([DEAD]), findDeliveriesByIds: () => Promise.resolve([DEAD]) };
  const send = () => {
    sending(owned);
    const sent: [string, DeliveryDocument][] = [
      ['dlv_1', convertToDeliveryDocument(resetDeliveryRetrySchedule(DEAD, AT, 'rpl_1'))],
    ];
    return Promise.resolve(new Map(sent));
  };
  const parts = {
    store,
    queries,
    resending: { sendTakenDeliveries: send },
    clock: () => new Date(AT),
    time: { ...NEVER_SET_PROCESS_CLOCK, now: () => Date.parse(AT) },
  };
  await new ReplayRunner(parts as unknown as ReplayRunnerDependencies).readRunningReplayOfEndpoint(owned);
  await owned.state.replay?.takeDeliveriesToReplay();
  return owned;
}

describe('a replay that has taken all it finds', () => {
  test('waits for the outcomes of its deliveries', async () => {
    const owned = await replaying(() => undefined);
    expect([owned.waiting, owned.state.replay?.isReplayReadyForMoreDeliveries(Date.parse(AT))]).toEqual([1, false]);
  });

  test('reads stored data again if another process may have changed it', async () => {
    const owned = await replaying(({ state }) => state.replay?.requestReplayReread());
    expect(owned.state.replay?.isReplayReadyForMoreDeliveries(Date.parse(AT))).toBe(true);
  });
});

test('has an unknown outcome if only some deliveries of a batch were written', async () => {
  const others = [DEAD, { ...DEAD, id: 'dlv_2', event_id: 'evt_2' }];
  const filter = { since: null, until: AT, event_types: null, statuses: ['dead_lettered'], reasons: null } as const;
  const replay = createReplayDocument({ ...SCOPE, id: 'rpl_1', endpoint_id: 'whe_1', action: 'replay', ...filter }, AT);
  const written: string[] = [];
  const replace = async ({ id }: DeliveryDocument) => {
    if (id === 'dlv_2') throw new BusyError('document store', 'too much waits');
    await new Promise(setImmediate);
    written.push(id);
    return true;
  };
  const recounts = { requestDiscardRecountsAroundRestore: (_: unknown, restore: () => Promise<unknown>) => restore() };
  const parts = { deliveries: { replace }, recounts, clock: () => new Date(AT) };
  const resending = new ReplaySender(parts as unknown as ConstructorParameters<typeof ReplaySender>[0]);
  const found = others.map((one) => ({ id: one.id, event_id: one.event_id, delivery: one }));
  const sent = resending.sendTakenDeliveries(replay, ENDPOINT as unknown as EndpointDocument, found, found);
  const error = await sent.catch((thrown: unknown) => thrown);
  expect([written, error instanceof UnavailableError, error instanceof BusyError]).toEqual([['dlv_1'], true, false]);
});
