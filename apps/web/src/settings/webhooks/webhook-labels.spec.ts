import type { WebhookReplay } from '@tracking/client';
import {
  DEFAULT_REPLAY_VALUES,
  calculateReplayProgressPercentages,
  describeReplay,
  buildReplayBody,
} from './webhook-labels.ts';

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
  it('selects dead letters and missed events of all types and times by default', () =>
    expect(buildReplayBody(DEFAULT_REPLAY_VALUES)).toEqual({ statuses: ['dead_lettered', 'missed'] }));

  it('selects what the user has chosen', () => {
    const since = '2026-11-22T00:00:00.000Z';
    expect(
      buildReplayBody({ ...DEFAULT_REPLAY_VALUES, since, event_types: ['shipment.created'], statuses: ['succeeded'] }),
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
  ] as const)('calculates the progress percentages of %j', (so, far) =>
    expect(calculateReplayProgressPercentages({ ...REPLAY, ...so })).toEqual(far),
  );

  it('describes a replay by its statuses, times and event types', () => {
    expect(describeReplay(REPLAY)).toMatch(/^dead letters, missed; to /);
    expect(describeReplay({ ...REPLAY, delivery_ids: ['dlv_1', 'dlv_2'] })).toBe('2 selected');
    const narrowed = describeReplay({ ...REPLAY, event_types: ['shipment.created'], reasons: ['timeout'] });
    expect(narrowed).toMatch(/; Shipment created; Timed out$/);
  });
});
