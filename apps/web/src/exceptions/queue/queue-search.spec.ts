import type { ShipmentException } from '@tracking/client';
import { readQueueSearch } from './queue-address.ts';
import { belongs, filterOf, openedOf, mayLack } from './queue-search.ts';

const NOW = Date.parse('2026-11-23T12:00:00.000Z');
const ME = 'ann@example.com';
const one = (fields: Partial<ShipmentException>) =>
  ({
    status: 'open',
    severity: 'high',
    type: 'customs_hold',
    assignee: null,
    opened_at: '2026-11-23T10:00:00.000Z',
    ...fields,
  }) as ShipmentException;

it('what an address says wrongly counts as not said', () => {
  expect(
    readQueueSearch({ view: 'theirs', severity: 'High', type: 'lost', status: 'resolved', age: '>1', at: 7 }),
  ).toEqual({ type: 'lost' });
});

it('an address says the same after it was read', () => {
  const said = {
    view: 'mine',
    severity: 'critical,high',
    type: 'lost',
    status: 'open',
    age: '>24',
    sort: 'due',
    at: 'exc_1',
  };
  expect(readQueueSearch(said)).toEqual(said);
});

it('the queue is what waits for somebody, unless the resolved are asked for', () => {
  expect(filterOf({}, ME)).toEqual({ status: ['open', 'acknowledged'] });
  expect(filterOf({ view: 'resolved' }, ME)).toEqual({ status: ['resolved'] });
  expect(filterOf({ view: 'mine', status: 'open' }, ME)).toEqual({ status: ['open'], assignee: ME });
});

it('in the order in which they are due stand those of types that have a due time', () => {
  expect(filterOf({ sort: 'due' }, ME).type).toEqual(['demurrage_risk', 'detention_risk', 'missed_connection']);
  expect(filterOf({ sort: 'due', type: 'detention_risk,lost' }, ME).type).toEqual(['detention_risk']);
});

it('severities and types that there are not are not asked for', () => {
  expect(filterOf({ severity: 'grave', type: 'novel,lost' }, ME)).toEqual({ ...filterOf({}, ME), type: ['lost'] });
});

it('an age is a bound of when it was opened', () => {
  expect(openedOf('<24', NOW)).toEqual({ opened_from: '2026-11-22T12:00:00.000Z' });
  expect(openedOf('>72', NOW)).toEqual({ opened_to: '2026-11-20T12:00:00.000Z' });
  expect(openedOf(undefined, NOW)).toEqual({});
});

it.each([
  [{}, {}, true],
  [{}, { status: 'resolved' }, false],
  [{ view: 'resolved' }, { status: 'resolved' }, true],
  [{ view: 'mine' }, {}, false],
  [{ view: 'mine' }, { assignee: ME }, true],
  [{ view: 'unassigned' }, {}, true],
  [{ view: 'unassigned' }, { assignee: ME }, false],
  [{ severity: 'critical' }, {}, false],
  [{ type: 'customs_hold,lost' }, {}, true],
  [{ sort: 'due' }, {}, false],
  [{ age: '<24' }, {}, true],
  [{ age: '>24' }, {}, false],
] as const)('asked for %j, %j belongs: %s', (search, fields, expected) => {
  expect(belongs(one(fields), search, ME, NOW)).toBe(expected);
});

it('holds a list for complete while the stream reports each change, however many pages it has', () => {
  expect(mayLack({ isOn: true, gaps: 1 }, 1, 5)).toBe(false);
  expect(mayLack({ isOn: undefined, gaps: 0 }, 0, 5)).toBe(false);
});

it('holds it for incomplete after a gap, and if several pages were read without the stream', () => {
  expect(mayLack({ isOn: true, gaps: 2 }, 1, 1)).toBe(true);
  expect(mayLack({ isOn: false, gaps: 0 }, 0, 1)).toBe(false);
  expect(mayLack({ isOn: false, gaps: 0 }, 0, 2)).toBe(true);
});
