import type { WebhookReplay } from '@tracking/client';
import { FAILED_OR_MISSED, progressOf, replayAbout, replayBody } from './webhook-labels.ts';

const REPLAY: WebhookReplay = {
  id: 'rpl_1',
  endpoint_id: 'whe_1',
  action: 'replay',
  since: null,
  until: '2026-11-23T09:30:00.000Z',
  event_types: null,
  statuses: ['dead_lettered', 'missed'],
  reasons: null,
  delivery_ids: null,
  status: 'running',
  matched: 0,
  done: 0,
  failed: 0,
  created_at: '2026-11-23T09:30:00.000Z',
  completed_at: null,
  version: 1,
};

describe('a replay', () => {
  it('covers failed and missed events of all types and times by default', () =>
    expect(replayBody(FAILED_OR_MISSED)).toEqual({ statuses: ['dead_lettered', 'missed'] }));

  it('covers what the user chose', () => {
    const since = '2026-11-22T00:00:00.000Z';
    expect(
      replayBody({ ...FAILED_OR_MISSED, since, event_types: ['shipment.created'], statuses: ['succeeded'] }),
    ).toEqual({
      ...{ since, event_types: ['shipment.created'], statuses: ['succeeded'] },
    });
  });

  it.each([
    [{}, { done: 0, failed: 0 }],
    [{ status: 'completed' }, { done: 100, failed: 0 }],
    [
      { matched: 8, done: 4, failed: 2 },
      { done: 50, failed: 25 },
    ],
  ] as const)('has the progress of %j', (so, far) => expect(progressOf({ ...REPLAY, ...so })).toEqual(far));

  it('is described in words', () => {
    expect(replayAbout(REPLAY)).toMatch(/^dead letters, missed; to /);
    expect(replayAbout({ ...REPLAY, delivery_ids: ['dlv_1', 'dlv_2'] })).toBe('2 chosen');
    const narrowed = replayAbout({ ...REPLAY, event_types: ['shipment.created'], reasons: ['timeout'] });
    expect(narrowed).toMatch(/; Shipment created; Timed out$/);
  });
});
