import { type AttemptOutcome, createDelivery } from '@tracking/webhooks-domain';
import type { EndpointDocument } from '../endpoints/endpoint-document.ts';
import { EndpointFailureLog } from './attempt-sender.ts';

const MINUTE = 60_000;
const success: AttemptOutcome = { kind: 'success' };
const failure: AttemptOutcome = { kind: 'failure', error: { code: 'timeout', message: 'no answer in time' } };
const endpoint = { id: 'whe_1', workspace_id: 'wsp_1', url: 'https://user:pass@a.example.com' } as EndpointDocument;
const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
const delivery = createDelivery(
  {
    id: 'dlv_1',
    workspace_id: 'wsp_1',
    environment: 'live',
    endpoint_id: 'whe_1',
    event_id: 'evt_1',
    event_type: 'shipment.created',
    event_created_at: '2026-01-01T00:00:00.000Z',
    origin: { request_id: 'req_1', traceparent },
    payload_id: 'evt_1.2026-11-01',
    sandbox: false,
  },
  '2026-01-01T00:00:00.000Z',
);

/** Log lines of attempts with these outcomes, each this many milliseconds after the previous one. */
function linesOf(outcomes: readonly (readonly [after: number, AttemptOutcome])[], failingSince: number | null = null) {
  const lines: { readonly level: string; readonly fields: object }[] = [];
  const log = (level: string) => (fields: object) => void lines.push({ level, fields });
  let now = 0;
  const logger = { debug: log('debug'), info: log('info'), warn: log('warn'), error: log('error') };
  const subject = new EndpointFailureLog(logger, () => now);
  const owned = { endpoint };
  const times = {
    startedAt: '2026-01-01T00:00:00.000Z',
    endedAt: '2026-01-01T00:00:00.000Z',
    manual: false,
    urlRevision: 0,
  };
  for (const [after, outcome] of outcomes) {
    now += after;
    subject.logFailureOrRecovery(owned, delivery, { finished: { ...times, outcome } }, failingSince);
  }
  return lines;
}
const levels = (...from: Parameters<typeof linesOf>) => linesOf(...from).map(({ level }) => level);

describe('the log', () => {
  test('logs once that an endpoint fails, and once that it answers again', () => {
    const attempts = [success, failure, failure, failure, success, success].map((outcome) => [1, outcome] as const);
    expect(levels(attempts)).toEqual(['warn', 'info']);
  });

  test('logs endpoint, workspace, reason and request, but no URL', () => {
    const about = { endpoint: 'whe_1', workspace: 'wsp_1', delivery: 'dlv_1' };
    const trace = { request_id: 'req_1', trace_id: '0af7651916cd43dd8448eb211c80319c' };
    const attempts = [failure, success].map((outcome) => [1, outcome] as const);
    expect(linesOf(attempts)).toEqual([
      { level: 'warn', fields: { ...about, ...trace, code: 'timeout', reason: 'no answer in time' } },
      { level: 'info', fields: { ...about, ...trace } },
    ]);
  });

  test('logs nothing for an endpoint that answers', () => {
    expect(levels([success, success].map((outcome) => [MINUTE, outcome] as const))).toEqual([]);
  });

  test('does not repeat lines for an endpoint that fails occasionally', () => {
    const attempts = Array.from({ length: 100 }, (_, n) => [10, n % 2 === 0 ? failure : success] as const);
    expect(levels(attempts)).toEqual(['warn', 'info']);
  });

  test('logs an endpoint that keeps failing after the quiet minute', () => {
    expect(
      levels([
        [0, failure],
        [1, success],
        [1, failure],
        [MINUTE, failure],
        [MINUTE, failure],
      ]),
    ).toEqual(['warn', 'info', 'warn']);
  });

  test('does not repeat lines of the former owner', () => {
    const since = Date.parse('2025-12-31T00:00:00.000Z');
    const attempts = [failure, failure, success].map((outcome) => [1, outcome] as const);
    expect(levels(attempts, since)).toEqual(['info']);
  });
});
