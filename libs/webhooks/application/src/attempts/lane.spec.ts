import { DEFAULT_MAX_CONCURRENCY, NEW_ENDPOINT, type Outcome, newDelivery } from '@tracking/webhooks-domain';
import { toDocument } from '../deliveries/delivery-document.ts';
import type { EndpointDocument } from '../endpoints/endpoint-document.ts';
import { Lane } from './lane.ts';
import { Pace } from './pace.ts';
import { END, toWaiting } from './waiting-list.ts';

const START = Date.UTC(2026, 0, 1);
const SUCCESS: Outcome = { kind: 'success' };
const FAILURE: Outcome = { kind: 'failure', error: { code: 'timeout', message: '' } };
const ENDPOINT: EndpointDocument = {
  ...NEW_ENDPOINT,
  id: 'whe_1',
  workspace_id: 'wsp_1',
  environment: 'live',
  status: 'enabled',
  url: 'https://a.example.com/',
  event_types: ['shipment.created'],
  description: null,
  api_version: '2026-11-01',
  headers: {},
  max_concurrency: DEFAULT_MAX_CONCURRENCY,
  deleted: false,
  secrets: [],
  created_at: new Date(START).toISOString(),
  updated_at: new Date(START).toISOString(),
  revision: 1,
};

function lane(...outcomes: readonly Outcome[]): Lane {
  const opened = new Lane(ENDPOINT, 1, true);
  opened.pace = new Pace(DEFAULT_MAX_CONCURRENCY, 600_000, () => 0);
  for (const outcome of outcomes) opened.pace.answered(outcome, START, START);
  return opened;
}

/** So many that come due a millisecond after each other, from the start on. */
function wait(at: Lane, count: number): Lane {
  for (let n = 0; n < count; n += 1) {
    const due = new Date(START + n).toISOString();
    const event = { event_id: `evt_${n}`, event_type: 'shipment.created', event_created_at: due };
    const { workspace_id, environment, id: endpoint_id } = ENDPOINT;
    const about = { ...event, workspace_id, environment, endpoint_id, payload_id: 'p', sandbox: false };
    at.backlog.add(toWaiting(toDocument(newDelivery({ ...about, id: `dlv_${n}` }, due)), 0), at.room);
  }
  return at;
}

describe('the lane of an endpoint', () => {
  test('holds little while it is not known whether the endpoint answers, and plenty once it does', () => {
    expect(lane().room).toBe(4 * 8);
    expect(lane(SUCCESS).room).toBe(5 * 64);
    expect(lane(SUCCESS, FAILURE, FAILURE, FAILURE, FAILURE).room).toBe(5 * 64);
    expect(lane(SUCCESS, FAILURE, FAILURE, FAILURE, FAILURE, FAILURE).room).toBe(2 * 8);
    const off = lane(SUCCESS);
    off.setEndpoint({ ...ENDPOINT, status: 'disabled', revision: 2 });
    expect(off.room).toBe(0);
  });

  test('is behind when what waits first is overdue', () => {
    expect(lane().isBehind(START)).toBe(false);
    const waiting = wait(lane(), 2);
    expect(waiting.isBehind(START + 500)).toBe(false);
    expect(waiting.isBehind(START + 501)).toBe(true);
  });

  test('is as far behind as it was while what waits is read anew, and no longer than that', () => {
    const waiting = wait(lane(), 2);
    waiting.backlog.forget();
    expect([waiting.isBehind(START + 500), waiting.isBehind(START + 501)]).toEqual([false, true]);
    const page = waiting.backlog.beginPage(waiting.room);
    expect(waiting.isBehind(START + 501)).toBe(true);
    waiting.backlog.endPage(page, { scheduled: [], express: [], end: END }, new Set(), 0);
    expect(waiting.isBehind(START + 501)).toBe(false);
  });
});
