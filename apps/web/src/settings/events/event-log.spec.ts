import type { TrackingEvent } from '@tracking/client';
import { matchesEventSearch, mergeLiveAndLoggedEvents, readEventUrlParameters, parseEventTypes } from './event-log.ts';

const event = (id: string) => ({ id, type: 'shipment.updated', data: { shipment_id: 'shp_1' } }) as TrackingEvent;

it('merges events, newest first, without duplicates', () => {
  const [a, b, c, d] = [event('a'), event('b'), event('c'), event('d')];
  expect(mergeLiveAndLoggedEvents([c, d], [c, b, a]).map(({ id }) => id)).toEqual(['d', 'c', 'b', 'a']);
});

it.each([
  [{}, true],
  [{ type: 'shipment.updated' }, true],
  [{ type: 'exception.opened' }, false],
  [{ shipment_id: 'shp_1' }, true],
  [{ shipment_id: 'shp_2' }, false],
])('matches search %j: %s', (search, expected) => {
  expect(matchesEventSearch(event('a'), search)).toBe(expected);
});

it('ignores invalid values in the URL', () => {
  expect(readEventUrlParameters({ type: 7, shipment_id: 'shp_1' })).toEqual({
    shipment_id: 'shp_1',
  });
  expect(parseEventTypes('exception.opened,webhook_endpoint.failing')).toEqual(['exception.opened']);
});
