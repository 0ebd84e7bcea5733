import {
  DELIVERY_STATUS_URL_VALUES,
  FILTERABLE_FAILURE_REASONS,
  readDeadLetterUrlParameters,
  readDeliveryListUrlParameters,
  toDeadLetterSelection,
} from './webhook-search.ts';
import { DELIVERY_STATUS_LABELS, FAILURE_REASON_LABELS } from './webhook-labels.ts';

describe('delivery search', () => {
  describe('delivery filters in the URL', () => {
    it('parses filters that it has written to the same filters', () => {
      const search = {
        endpoint_id: 'whe_1',
        event_type: 'milestone.recorded',
        status: 'retrying,dead_lettered',
        reason: 'timeout',
        since: '2026-11-23T09:30:00.000Z',
      };
      expect(readDeliveryListUrlParameters(search)).toEqual(search);
    });

    it('accepts each known status and reason', () => {
      expect(DELIVERY_STATUS_URL_VALUES).toEqual(Object.keys(DELIVERY_STATUS_LABELS));
      expect(FILTERABLE_FAILURE_REASONS).toEqual(Object.keys(FAILURE_REASON_LABELS));
    });

    it.each([
      { endpoint_id: 'shp_1' },
      { event_id: 7 },
      { event_type: 'shipment.eaten' },
      { status: 'lost' },
      { reason: 'boredom' },
      { since: 'yesterday' },
      { anything: 'else' },
    ])('ignores invalid parameters: %j', (search) => expect(readDeliveryListUrlParameters(search)).toEqual({}));

    it('ignores an unknown status among several', () =>
      expect(readDeliveryListUrlParameters({ status: 'lost,succeeded' })).toEqual({ status: 'succeeded' }));
  });
});

describe('dead letter search', () => {
  const SEARCH = { endpoint_id: 'whe_1', event_type: 'shipment.created', reason: 'timeout' } as const;

  describe('a bulk operation on dead letters', () => {
    it('applies the filters of the page URL, except the status', () =>
      expect(readDeadLetterUrlParameters({ ...SEARCH, status: 'succeeded', event_id: 'evt_1' })).toEqual(SEARCH));

    it('covers all matching dead letters without a selection', () => {
      expect(toDeadLetterSelection({}, new Set())).toEqual({});
      expect(toDeadLetterSelection({ ...SEARCH, since: '2026-11-23T09:30:00.000Z' }, new Set())).toEqual({
        ...{ endpoint_id: 'whe_1', event_types: ['shipment.created'], reasons: ['timeout'] },
        since: '2026-11-23T09:30:00.000Z',
      });
    });

    it('covers only the selected dead letters', () =>
      expect(toDeadLetterSelection(SEARCH, new Set(['dlv_1', 'dlv_2']))).toEqual({ delivery_ids: ['dlv_1', 'dlv_2'] }));
  });
});
