import type { ShipmentException } from '@tracking/client';
import {
  formatAge,
  matchesExceptionQueueFilters,
  compareByDueDate,
  getExceptionDueDate,
  buildExceptionFilter,
  isExceptionOverdue,
  isListPossiblyIncomplete,
  calculateOpeningTimeRange,
  readExceptionQueueUrlParameters,
} from './queue-search.ts';

describe('queue search', () => {
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

  it('ignores invalid parameters of the page URL', () => {
    expect(
      readExceptionQueueUrlParameters({
        view: 'theirs',
        severity: 'High',
        type: 'lost',
        status: 'resolved',
        age: '>1',
        at: 7,
      }),
    ).toEqual({ type: 'lost' });
  });

  it('parses a page URL that it has written to the same search', () => {
    const said = {
      view: 'mine',
      severity: 'critical,high',
      type: 'lost',
      status: 'open',
      age: '>24',
      sort: 'due',
      at: 'exc_1',
    };
    expect(readExceptionQueueUrlParameters(said)).toEqual(said);
  });

  it('lists open exceptions unless the view of resolved exceptions is selected', () => {
    expect(buildExceptionFilter({}, ME)).toEqual({ status: ['open', 'acknowledged'] });
    expect(buildExceptionFilter({ view: 'resolved' }, ME)).toEqual({ status: ['resolved'] });
    expect(buildExceptionFilter({ view: 'mine', status: 'open' }, ME)).toEqual({ status: ['open'], assignee: ME });
  });

  it('lists only types with a due date if the list is sorted by due date', () => {
    expect(buildExceptionFilter({ sort: 'due' }, ME).type).toEqual([
      'demurrage_risk',
      'detention_risk',
      'missed_connection',
    ]);
    expect(buildExceptionFilter({ sort: 'due', type: 'detention_risk,lost' }, ME).type).toEqual(['detention_risk']);
  });

  it('ignores unknown severities and types', () => {
    expect(buildExceptionFilter({ severity: 'grave', type: 'novel,lost' }, ME)).toEqual({
      ...buildExceptionFilter({}, ME),
      type: ['lost'],
    });
  });

  it('converts an age filter to a range of opening times', () => {
    expect(calculateOpeningTimeRange('<24', NOW)).toEqual({ opened_from: '2026-11-22T12:00:00.000Z' });
    expect(calculateOpeningTimeRange('>72', NOW)).toEqual({ opened_to: '2026-11-20T12:00:00.000Z' });
    expect(calculateOpeningTimeRange(undefined, NOW)).toEqual({});
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
  ] as const)('search %j, exception %j: %s', (search, fields, expected) => {
    expect(matchesExceptionQueueFilters(one(fields), search, ME, NOW)).toBe(expected);
  });

  it('reports a list of any number of pages as complete while the stream is connected', () => {
    expect(isListPossiblyIncomplete({ isConnected: true, gaps: 1 }, 1, 5)).toBe(false);
    expect(isListPossiblyIncomplete({ isConnected: undefined, gaps: 0 }, 0, 5)).toBe(false);
  });

  it('reports a list as possibly incomplete after a gap, or if several pages were read without the stream', () => {
    expect(isListPossiblyIncomplete({ isConnected: true, gaps: 2 }, 1, 1)).toBe(true);
    expect(isListPossiblyIncomplete({ isConnected: false, gaps: 0 }, 0, 1)).toBe(false);
    expect(isListPossiblyIncomplete({ isConnected: false, gaps: 0 }, 0, 2)).toBe(true);
  });
});

describe('due dates', () => {
  const one = (type: ShipmentException['type'], metrics: ShipmentException['metrics'], opened_at = '2026-11-01') =>
    ({ type, metrics, opened_at }) as ShipmentException;

  it('finds the due date or due time that the rule measured, if there is one', () => {
    expect(getExceptionDueDate(one('demurrage_risk', { last_free_day: '2026-12-01' }))).toMatchObject({
      kind: 'day',
      value: '2026-12-01',
    });
    expect(getExceptionDueDate(one('missed_connection', { next_etd: null }))).toBeUndefined();
    expect(getExceptionDueDate(one('customs_hold', {}))).toBeUndefined();
  });

  it('sorts exceptions by due date, soonest first, and those without a due date last, oldest first', () => {
    const soon = one('missed_connection', { next_etd: '2026-12-01T08:00:00.000Z' });
    const day = one('detention_risk', { empty_return_by: '2026-12-01' });
    const late = one('demurrage_risk', { last_free_day: '2026-12-02' });
    const [older, newer] = [one('demurrage_risk', {}, '2026-11-01'), one('demurrage_risk', {}, '2026-11-02')];
    expect([newer, late, older, day, soon].sort(compareByDueDate)).toEqual([soon, day, late, older, newer]);
  });

  const at = (time: string) => Date.parse(time);

  it('a due date has passed when the day has ended at the place and the severity is critical', () => {
    const risk = { ...one('demurrage_risk', { last_free_day: '2026-12-01' }), severity: 'high' as const };
    const after = { ...risk, severity: 'critical' as const };
    // A day ends earlier in Shanghai than in UTC, and later in Los Angeles.
    expect(isExceptionOverdue(after, at('2026-12-01T16:00:00Z'))).toBe(true);
    expect(isExceptionOverdue(risk, at('2026-12-02T07:59:00Z'))).toBe(false);
    expect(isExceptionOverdue(after, at('2026-12-02T08:00:00Z'))).toBe(true);
  });

  it('a due date has not passed before the day has ended in some time zone, even if the severity is critical', () => {
    const risk = { ...one('detention_risk', { empty_return_by: '2026-12-01' }), severity: 'critical' as const };
    expect(isExceptionOverdue(risk, at('2026-12-01T09:59:00Z'))).toBe(false);
    expect(isExceptionOverdue(risk, at('2026-12-01T10:00:00Z'))).toBe(true);
  });

  it('a due time passes at its moment, and an unknown due time never passes', () => {
    const missed = one('missed_connection', { next_etd: '2026-12-01T08:00:00.000Z' });
    expect([
      isExceptionOverdue(missed, at('2026-12-01T08:00:00Z')),
      isExceptionOverdue(missed, at('2026-12-01T08:01:00Z')),
    ]).toEqual([false, true]);
    expect(isExceptionOverdue(one('customs_hold', {}), at('2030-01-01'))).toBe(false);
  });

  it.each([
    ['2026-11-23T11:59:30Z', '0 min'],
    ['2026-11-23T11:01:00Z', '59 min'],
    ['2026-11-21T13:00:00Z', '47 h'],
    ['2026-11-20T12:00:00Z', '3 d'],
  ])('formats the age of an exception opened %s as %s', (opened, expected) => {
    expect(formatAge(opened, Date.parse('2026-11-23T12:00:00Z'))).toBe(expected);
  });
});
