import type { ShipmentException } from '@tracking/client';
import { ageLabel, byDue, dueOf, isOverdue } from './due.ts';

const one = (type: ShipmentException['type'], metrics: ShipmentException['metrics'], opened_at = '2026-11-01') =>
  ({ type, metrics, opened_at }) as ShipmentException;

it('is the day or moment that the rule measured, where it knows it', () => {
  expect(dueOf(one('demurrage_risk', { last_free_day: '2026-12-01' }))).toMatchObject({
    kind: 'day',
    value: '2026-12-01',
  });
  expect(dueOf(one('missed_connection', { next_etd: null }))).toBeUndefined();
  expect(dueOf(one('customs_hold', {}))).toBeUndefined();
});

it('orders the soonest first, and last what is due at no known time, the oldest first', () => {
  const soon = one('missed_connection', { next_etd: '2026-12-01T08:00:00.000Z' });
  const day = one('detention_risk', { empty_return_by: '2026-12-01' });
  const late = one('demurrage_risk', { last_free_day: '2026-12-02' });
  const [older, newer] = [one('demurrage_risk', {}, '2026-11-01'), one('demurrage_risk', {}, '2026-11-02')];
  expect([newer, late, older, day, soon].sort(byDue)).toEqual([soon, day, late, older, newer]);
});

const at = (time: string) => Date.parse(time);

it('a day is past when it is over at the place, which the severity says', () => {
  const risk = { ...one('demurrage_risk', { last_free_day: '2026-12-01' }), severity: 'high' as const };
  const after = { ...risk, severity: 'critical' as const };
  // In Shanghai it ends before it does in UTC, and in Los Angeles after it.
  expect(isOverdue(after, at('2026-12-01T16:00:00Z'))).toBe(true);
  expect(isOverdue(risk, at('2026-12-02T07:59:00Z'))).toBe(false);
  expect(isOverdue(after, at('2026-12-02T08:00:00Z'))).toBe(true);
});

it('a day is not past before it is over anywhere, though settings have it critical from the beginning', () => {
  const risk = { ...one('detention_risk', { empty_return_by: '2026-12-01' }), severity: 'critical' as const };
  expect(isOverdue(risk, at('2026-12-01T09:59:00Z'))).toBe(false);
  expect(isOverdue(risk, at('2026-12-01T10:00:00Z'))).toBe(true);
});

it('a moment is past after it, and what is due at no known time never', () => {
  const missed = one('missed_connection', { next_etd: '2026-12-01T08:00:00.000Z' });
  expect([isOverdue(missed, at('2026-12-01T08:00:00Z')), isOverdue(missed, at('2026-12-01T08:01:00Z'))]).toEqual([
    false,
    true,
  ]);
  expect(isOverdue(one('customs_hold', {}), at('2030-01-01'))).toBe(false);
});

it.each([
  ['2026-11-23T11:59:30Z', '0 min'],
  ['2026-11-23T11:01:00Z', '59 min'],
  ['2026-11-21T13:00:00Z', '47 h'],
  ['2026-11-20T12:00:00Z', '3 d'],
])('opened %s, it is open for %s', (opened, expected) => {
  expect(ageLabel(opened, Date.parse('2026-11-23T12:00:00Z'))).toBe(expected);
});
