import { EVENT_TYPES, SHIPMENT_EVENT_TYPES, STANDARD_EVENT_TYPES, groupEventTypes } from './event-types.ts';

describe('event types', () => {
  it('include six standard types', () => expect(STANDARD_EVENT_TYPES).toHaveLength(6));

  it('exclude types that concern endpoints from the event log', () =>
    expect(EVENT_TYPES.filter((type) => !SHIPMENT_EVENT_TYPES.some((known) => known === type))).toEqual([
      'webhook_endpoint.failing',
      'webhook_delivery.dead_lettered',
    ]));

  it.each([
    ['', EVENT_TYPES.length],
    ['milestone.', 2],
    [' REJECTED ', 1],
    ['was retracted', 1],
    ['no such event', 0],
  ])('are found by the search %j', (search, count) => {
    expect(groupEventTypes(search).flatMap(({ types }) => types)).toHaveLength(count);
  });

  it('belong to one group each', () => {
    const grouped = groupEventTypes().flatMap(({ types }) => types);
    expect([...grouped].sort()).toEqual([...EVENT_TYPES].sort());
  });
});
