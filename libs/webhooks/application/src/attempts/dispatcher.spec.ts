import type { Lease } from '@tracking/ports';
import { DEFAULT_RETRY_POLICY, INITIAL_ENDPOINT_STATE, createDelivery } from '@tracking/webhooks-domain';
import type { EndpointDocument } from '../endpoints/endpoint-document.ts';
import { OwnedEndpoint } from '../scheduling/owned-endpoint.ts';
import type { SetTimer } from '../scheduling/timing.ts';
import { convertToDeliveryDocument } from '../store/delivery-document.ts';
import { DeliveryNotReadableError } from './delivery-worker.ts';
import { AttemptDispatcher, type DispatcherDependencies } from './dispatcher.ts';
import { NEVER_SET_PROCESS_CLOCK } from '../../test/unset-clock.ts';

const TIMING = { time: NEVER_SET_PROCESS_CLOCK, policy: DEFAULT_RETRY_POLICY };

const START = Date.UTC(2026, 0, 1);
const ENDPOINT = {
  ...INITIAL_ENDPOINT_STATE,
  id: 'whe_1',
  workspace_id: 'wsp_1',
  status: 'enabled',
  max_concurrency: 1,
} as const;
const NOW = START + 600_001;

/** An endpoint with one attempt at a time that has just answered again after ten minutes. */
function recovering(): OwnedEndpoint {
  const lease = { isLeaseHeld: () => true } as Lease;
  const endpoint = { ...ENDPOINT, revision: 1 } as unknown as EndpointDocument;
  const owned = new OwnedEndpoint(endpoint, lease, true, TIMING);
  owned.state.restoreEndpointHealth(undefined, { recoveryAfterMs: 600_000, random: () => 0 });
  owned.state.recordAttemptOutcome(
    endpoint,
    { kind: 'failure', error: { code: 'timeout', message: '' } },
    START,
    START,
  );
  owned.state.recordAttemptOutcome(endpoint, { kind: 'success' }, START + 600_000, START + 600_000);
  return owned;
}

function wait(owned: OwnedEndpoint, id: string): void {
  const at = new Date(NOW - 1).toISOString();
  const about = { workspace_id: 'wsp_1', environment: 'live', endpoint_id: 'whe_1', payload_id: 'p' } as const;
  const event = { event_id: id, event_type: 'shipment.created', event_created_at: at, sandbox: false };
  owned.queueStoredDelivery(convertToDeliveryDocument(createDelivery({ ...about, ...event, id }, at)), 0, owned.room);
}

test('a delivery whose body is not stored yet waits before its next try, also while its endpoint recovers', async () => {
  const owned = recovering();
  wait(owned, 'dlv_1');
  wait(owned, 'dlv_2');
  const tried: string[] = [];
  const timers: number[] = [];
  const attempt: DispatcherDependencies['worker']['attemptDelivery'] = (_owned, { id }) => {
    tried.push(id);
    // Bounded, since tries that follow each other without a pause let nothing else run.
    return tried.length < 6 ? Promise.reject(new DeliveryNotReadableError(id)) : Promise.resolve(undefined);
  };
  const setTimer: SetTimer = (_ring, ms) => {
    timers.push(ms);
    return () => undefined;
  };
  const dispatcher = new AttemptDispatcher({
    endpoints: {
      needsDeliveryWindowFill: () => false,
      computeMaxDeliveriesHeldInMemory: () => owned.room,
      addEndpointObserver: () => undefined,
    },
    reporter: { getTimeToReportFailingEndpoint: () => Infinity },
    engines: { ended: new AbortController().signal },
    logger: { debug: () => undefined },
    time: { ...NEVER_SET_PROCESS_CLOCK, now: () => NOW },
    maxInFlight: 100,
    worker: { attemptDelivery: attempt },
    setTimer,
  } as unknown as DispatcherDependencies);
  dispatcher.onEndpointChange(owned);
  await new Promise(setImmediate);
  expect([tried, timers, owned.isRecovering]).toEqual([['dlv_1', 'dlv_2'], [500], true]);
});
