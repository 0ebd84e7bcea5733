import { getBoundsOfLocalDay } from '../local-time.ts';
import { addHoursToTimestamp } from './rule.ts';

const zulu = (text: string) => new Date(`${text}Z`).toISOString();

describe('a day in a time zone', () => {
  test.each([
    ['2026-01-20', 'UTC', '2026-01-20T00:00', '2026-01-21T00:00'],
    ['2026-01-20', 'America/Los_Angeles', '2026-01-20T08:00', '2026-01-21T08:00'],
    ['2026-01-20', 'Asia/Shanghai', '2026-01-19T16:00', '2026-01-20T16:00'],
    ['2026-01-20', 'Asia/Kolkata', '2026-01-19T18:30', '2026-01-20T18:30'],
    ['2026-01-20', 'Pacific/Kiritimati', '2026-01-19T10:00', '2026-01-20T10:00'],
    ['2026-01-20', 'Pacific/Pago_Pago', '2026-01-20T11:00', '2026-01-21T11:00'],
    // The clocks change during the day, which has 23 or 25 hours.
    ['2026-03-08', 'America/Los_Angeles', '2026-03-08T08:00', '2026-03-09T07:00'],
    ['2026-11-01', 'America/Los_Angeles', '2026-11-01T07:00', '2026-11-02T08:00'],
    ['2026-03-29', 'Europe/Berlin', '2026-03-28T23:00', '2026-03-29T22:00'],
    ['2026-10-25', 'Europe/Berlin', '2026-10-24T22:00', '2026-10-25T23:00'],
    // The following day.
    ['2026-03-30', 'Europe/Berlin', '2026-03-29T22:00', '2026-03-30T22:00'],
    // The clocks go forward at midnight, so the day begins at 01:00.
    ['2026-09-06', 'America/Santiago', '2026-09-06T04:00', '2026-09-07T03:00'],
    // The clocks go back at midnight, so the previous day has 25 hours.
    ['2026-04-04', 'America/Santiago', '2026-04-04T03:00', '2026-04-05T04:00'],
    ['2026-04-05', 'America/Santiago', '2026-04-05T04:00', '2026-04-06T04:00'],
    // The clocks go back at 01:00, so midnight occurs twice, and the day begins with the first.
    ['2026-10-25', 'Atlantic/Azores', '2026-10-25T00:00', '2026-10-26T01:00'],
    // The clocks change by half an hour.
    ['2026-10-04', 'Australia/Lord_Howe', '2026-10-03T13:30', '2026-10-04T13:00'],
    // The platform does not know this zone.
    ['2026-01-20', 'Mars/Olympus', '2026-01-20T00:00', '2026-01-21T00:00'],
  ])('%s in %s', (day, zone, from, until) => {
    expect(getBoundsOfLocalDay(day, zone)).toEqual({ from: zulu(from), until: zulu(until) });
    expect(getBoundsOfLocalDay(day, zone)).toBe(getBoundsOfLocalDay(day, zone));
  });

  it('begins when the local calendar first shows it, throughout a year', () => {
    for (const zone of ['America/Los_Angeles', 'Europe/Berlin', 'America/Santiago', 'Africa/Cairo', 'Asia/Beirut']) {
      const calendar = new Intl.DateTimeFormat('sv', { timeZone: zone, dateStyle: 'short' });
      for (let n = 0; n < 365; n++) {
        const day = new Date(Date.UTC(2026, 0, 1 + n)).toISOString().slice(0, 10);
        const { from, until } = getBoundsOfLocalDay(day, zone);
        const shown = [Date.parse(from) - 1, Date.parse(from), Date.parse(until) - 1, Date.parse(until)].map((at) =>
          calendar.format(at),
        );
        expect([day, zone, shown[0]! < day, shown[1], shown[2], shown[3]! > day]).toEqual([
          day,
          zone,
          true,
          day,
          day,
          true,
        ]);
      }
    }
  });
});

test.each([
  ['2026-01-20T00:00:00.000Z', 12, '2026-01-20T12:00:00.000Z'],
  ['2026-01-20T00:00:00.001Z', -48, '2026-01-18T00:00:00.001Z'],
  ['2026-01-20T00:00:00.000Z', 0.5, '2026-01-20T00:30:00.000Z'],
])('%s and %s hours', (time, hours, expected) => {
  expect(addHoursToTimestamp(time, hours)).toBe(expected);
});
