import { readDeadLetterSearch, whichOf } from './dead-letter-search.ts';

const SEARCH = { endpoint_id: 'whe_1', event_type: 'shipment.created', reason: 'timeout' } as const;

describe('dead letters', () => {
  it('are narrowed by what the address says, but for their status', () =>
    expect(readDeadLetterSearch({ ...SEARCH, status: 'succeeded', event_id: 'evt_1' })).toEqual(SEARCH));

  it('are all that fit where none was chosen', () => {
    expect(whichOf({}, new Set())).toEqual({});
    expect(whichOf({ ...SEARCH, since: '2026-11-23T09:30:00.000Z' }, new Set())).toEqual({
      ...{ endpoint_id: 'whe_1', event_types: ['shipment.created'], reasons: ['timeout'] },
      since: '2026-11-23T09:30:00.000Z',
    });
  });

  it('are those that were chosen alone', () =>
    expect(whichOf(SEARCH, new Set(['dlv_1', 'dlv_2']))).toEqual({ delivery_ids: ['dlv_1', 'dlv_2'] }));
});
