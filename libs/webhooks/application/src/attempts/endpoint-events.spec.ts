import type { Lease } from '@tracking/ports';
import { DEFAULT_RETRY_POLICY, type AttemptOutcome, type FailingPeriod } from '@tracking/webhooks-domain';
import type { EndpointDocument } from '../endpoints/endpoint-document.ts';
import type { OwnedEndpoints } from '../ownership/owned-endpoints.ts';
import { OwnedEndpoint } from '../scheduling/owned-endpoint.ts';
import { type EndpointEventRecorder, EndpointFailureReporter } from './endpoint-events.ts';
import { NEVER_SET_PROCESS_CLOCK } from '../../test/unset-clock.ts';

const TIMING = { time: NEVER_SET_PROCESS_CLOCK, policy: DEFAULT_RETRY_POLICY };

const START = Date.UTC(2026, 0, 1);
const HOUR_MS = 3_600_000;
const SUCCESS: AttemptOutcome = { kind: 'success' };
const FAILURE: AttemptOutcome = { kind: 'failure', error: { code: 'timeout', message: '' } };
const ENDPOINT = { id: 'whe_1', status: 'enabled', max_concurrency: 4, pauses: [], revision: 1 };

function failing(): OwnedEndpoint {
  const owned = new OwnedEndpoint(
    ENDPOINT as unknown as EndpointDocument,
    { isLeaseHeld: () => true } as Lease,
    true,
    TIMING,
  );
  owned.state.restoreEndpointHealth(undefined, { recoveryAfterMs: 600_000, random: () => 0 });
  owned.state.recordAttemptOutcome(owned.endpoint, FAILURE, START, START);
  return owned;
}

/** @param saved called with the number of each write of the health */
function createReporter(saved: (count: number) => void): {
  readonly reporter: EndpointFailureReporter;
  readonly reported: FailingPeriod[];
} {
  const reported: FailingPeriod[] = [];
  let writes = 0;
  const saveEndpointHealth = () => {
    saved((writes += 1));
    return Promise.resolve(true);
  };
  const endpoints = { saveEndpointHealth } as unknown as OwnedEndpoints;
  const time = { ...NEVER_SET_PROCESS_CLOCK, now: () => START + HOUR_MS };
  const recordFailingEndpointEvent = (_: EndpointDocument, period: FailingPeriod) => {
    reported.push(period);
    return Promise.resolve();
  };
  const events = { recordFailingEndpointEvent } as unknown as EndpointEventRecorder;
  return { reporter: new EndpointFailureReporter({ endpoints, time, afterMs: HOUR_MS, events }), reported };
}

describe('the report of a failing endpoint', () => {
  test('is recorded once for a period of failures', async () => {
    const owned = failing();
    const { reporter, reported } = createReporter(() => undefined);
    expect(reporter.getTimeToReportFailingEndpoint(owned)).toBe(START + HOUR_MS);
    await reporter.reportEndpointFailing(owned);
    expect(reported).toMatchObject([{ since: new Date(START).toISOString(), reason: { code: 'timeout' } }]);
    expect(reporter.getTimeToReportFailingEndpoint(owned)).toBe(Infinity);
  });

  test('is not recorded for failures that began in the meantime', async () => {
    const owned = failing();
    const { reporter } = createReporter((count) => {
      if (count > 1) return;
      owned.state.recordAttemptOutcome(owned.endpoint, SUCCESS, START + HOUR_MS, START + HOUR_MS);
      owned.state.recordAttemptOutcome(owned.endpoint, FAILURE, START + HOUR_MS + 1, START + HOUR_MS + 1);
    });
    await reporter.reportEndpointFailing(owned);
    // The report time is still unset: nothing of the former period was recorded.
    expect(owned.state.createFailurePeriodReport(7)).toMatchObject({ since: START + HOUR_MS + 1, at: 7 });
    expect(reporter.getTimeToReportFailingEndpoint(owned)).toBe(START + 2 * HOUR_MS + 1);
  });

  test('is not recorded for a former URL', async () => {
    const owned = failing();
    const { reporter, reported } = createReporter(() => {
      owned.setEndpointUnlessOutdated({ ...owned.endpoint, url_revision: 2, revision: 2 });
    });
    await reporter.reportEndpointFailing(owned);
    expect([reported, owned.state.concurrency]).toEqual([[], undefined]);
  });
});
