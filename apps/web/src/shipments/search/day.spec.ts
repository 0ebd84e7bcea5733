import { dayLabel, endOf, isDay, isoDay, startOf } from './day.ts';

const NOW = new Date(2026, 11, 30, 17, 45);

it.each(['today', 'today+7', 'today-30', '2026-12-01'])('takes %s for a day', (text) => {
  expect(isDay(text)).toBe(true);
});

it.each(['', 'tomorrow', 'today+', 'today+7000', '2026-02-30', '2026-13-01', '1 December'])(
  'takes “%s” for none',
  (text) => {
    expect(isDay(text)).toBe(false);
  },
);

it.each([
  ['today', new Date(2026, 11, 30), new Date(2026, 11, 30, 23, 59, 59, 999)],
  ['today+3', new Date(2027, 0, 2), new Date(2027, 0, 2, 23, 59, 59, 999)],
  ['today-30', new Date(2026, 10, 30), new Date(2026, 10, 30, 23, 59, 59, 999)],
  ['2026-03-29', new Date(2026, 2, 29), new Date(2026, 2, 29, 23, 59, 59, 999)],
])('counts %s in the calendar of the reader', (day, start, end) => {
  expect(startOf(day, NOW)).toEqual(start);
  expect(endOf(day, NOW)).toEqual(end);
});

it('gives fields for dates the day that counting leads to', () => {
  expect([isoDay('today+3', NOW), isoDay('2026-03-09', NOW)]).toEqual(['2027-01-02', '2026-03-09']);
});

it('takes a year below 100 for that year', () => {
  expect(isoDay('0026-12-15', NOW)).toBe('0026-12-15');
  expect(endOf('0026-12-31', NOW).getFullYear()).toBe(26);
});

it('says days as people do', () => {
  expect(['today', 'today+1', 'today-1', 'today+7', 'today-7'].map(dayLabel)).toEqual([
    'today',
    'tomorrow',
    'yesterday',
    'in 7 days',
    '7 days ago',
  ]);
});
