import { execFileSync } from 'node:child_process';
import {
  getDateIfWholeDay,
  getDateInZone,
  getDayAtPlace,
  isDateOnly,
  countDaysBetween,
  parseLocalInputValue,
  convertLocalTimeToUtc,
  haveSameLocalTime,
  parseUrlTime,
  toLocalInputValue,
  toWallClock,
  formatZone,
} from './zones.ts';

describe('zones', () => {
  describe('local times', () => {
    it.each([
      ['2026-11-21T10:30', 'Asia/Shanghai', '2026-11-21T02:30:00.000Z'],
      ['2026-07-01T00:00', 'Europe/Amsterdam', '2026-06-30T22:00:00.000Z'],
      ['2026-12-01T00:00', 'Europe/Amsterdam', '2026-11-30T23:00:00.000Z'],
      ['2026-07-01T12:00', 'Asia/Kolkata', '2026-07-01T06:30:00.000Z'],
      ['2026-07-01T12:00', 'UTC', '2026-07-01T12:00:00.000Z'],
    ])('converts %s in %s to %s and back', (wall, zone, instant) => {
      expect(convertLocalTimeToUtc(wall, zone)).toBe(instant);
      expect(toWallClock(instant, zone)).toBe(wall);
    });

    it.each(['Europe/Berlin', 'America/New_York', 'UTC'])('are equal for a user in the time zone %s', (reader) => {
      // Other time zones have times in the hour that a daylight saving change skips in this zone.
      const [berlin, newYork] = ['2026-03-28T18:00:00.000Z', '2026-03-07T18:00:00.000Z'];
      expect(
        readBy(
          reader,
          `[toWallClock('${berlin}', 'Asia/Shanghai'), convertLocalTimeToUtc('2026-03-29T02:00', 'Asia/Shanghai'),
          toWallClock('${newYork}', 'Asia/Shanghai'), convertLocalTimeToUtc('2026-03-08T02:00', 'Asia/Shanghai'),
          formatZone('Asia/Shanghai', '${berlin}')]`,
        ),
      ).toEqual(['2026-03-29T02:00', berlin, '2026-03-08T02:00', newYork, 'Shanghai, UTC+8']);
    });

    it.each([
      ['2026-03-29T02:30', '2026-03-29T01:30:00.000Z', '2026-03-29T03:30'],
      ['2026-10-25T02:30', '2026-10-25T00:30:00.000Z', '2026-10-25T02:30'],
    ])('converts %s in Berlin, at a daylight saving change, to %s, shown as %s', (wall, instant, shown) => {
      expect(convertLocalTimeToUtc(wall, 'Europe/Berlin')).toBe(instant);
      expect(toWallClock(instant, 'Europe/Berlin')).toBe(shown);
    });

    it('start a day with hour 0', () => {
      expect(toWallClock('2026-11-24T16:00:59.999Z', 'Asia/Shanghai')).toBe('2026-11-25T00:00');
    });

    it.each(['', 'soon', '12026-11-21T10:30', '275760-12-31T23:59', '2026-13-01T10:30'])('never show %j', (wall) => {
      expect(convertLocalTimeToUtc(wall, 'Asia/Shanghai')).toBeUndefined();
    });

    it('are empty without a time', () => {
      expect(toWallClock(null, 'UTC')).toBe('');
    });

    it('show their time zone', () => {
      expect(formatZone('America/New_York', '2026-07-01T12:00:00Z')).toBe('New York, UTC−4');
      expect(formatZone('Asia/Kolkata', '2026-07-01T12:00:00Z')).toBe('Kolkata, UTC+5:30');
      expect(formatZone('Europe/London', '2026-12-01T12:00:00Z')).toBe('London, UTC');
    });
  });

  describe('days and clocks', () => {
    it('are equal in some time zones', () => {
      expect(haveSameLocalTime('2026-12-01T12:00:00Z', 'Europe/Amsterdam', 'Europe/Berlin')).toBe(true);
      expect(haveSameLocalTime('2026-12-01T12:00:00Z', 'Europe/Amsterdam', 'UTC')).toBe(false);
    });

    it('may differ in their day between time zones', () => {
      expect(getDateInZone('2026-11-24T20:00:00Z', 'Asia/Shanghai')).toBe('2026-11-25');
    });

    it('count whole days regardless of daylight saving changes', () => {
      expect(countDaysBetween('2026-10-24', '2026-10-26')).toBe(2);
      expect(countDaysBetween('2026-11-24', '2026-11-22')).toBe(-2);
    });
  });

  /** Evaluates the expression in a new process with this time zone. A running process cannot change its time zone. */
  function readBy(zone: string, expression: string): unknown {
    const zones = JSON.stringify(new URL('zones.ts', import.meta.url).href);
    const program = `const { toWallClock, convertLocalTimeToUtc, formatZone } = await import(${zones}); console.log(JSON.stringify(${expression}))`;
    const options = { encoding: 'utf8', env: { ...process.env, TZ: zone } } as const;
    return JSON.parse(execFileSync(process.execPath, ['--input-type=module', '--eval', program], options));
  }
});

describe('local time', () => {
  describe('values of datetime-local fields', () => {
    it.each(['2026-11-23T09:30:00.000Z', '2026-03-29T01:30:00.000Z', '2026-10-25T00:30:00.000Z'])(
      'converts %s to a field value and back',
      (time) => expect(parseLocalInputValue(toLocalInputValue(time))).toBe(time),
    );

    it('are empty without a time', () => {
      expect(toLocalInputValue(undefined)).toBe('');
      expect(parseLocalInputValue('')).toBeUndefined();
      expect(parseLocalInputValue('soon')).toBeUndefined();
    });

    it.each([
      ['2026-11-23T09:30:00+01:00', '2026-11-23T08:30:00.000Z'],
      ['yesterday', undefined],
      [7, undefined],
    ])('parses the URL parameter %j', (said, time) => expect(parseUrlTime(said)).toBe(time));
  });
});

describe('whole days', () => {
  it.each([
    ['2026-12-10T07:59:59.999Z', 'America/Los_Angeles', '2026-12-09'],
    ['2026-12-09T10:59:59.999Z', 'Pacific/Auckland', '2026-12-09'],
    ['2026-12-10T11:59:59.999Z', null, '2026-12-09'],
    ['2026-12-09T15:59:59.999Z', undefined, '2026-12-09'],
  ])('the day that ends at %s in %s is %s', (end, zone, date) => {
    expect(getDayAtPlace(end, zone)).toBe(date);
  });

  it('are recognized by their last millisecond', () => {
    expect(getDateIfWholeDay('2026-12-09T18:29:59.999Z')).toBe('2026-12-09');
    expect(getDateIfWholeDay('2026-12-09T18:30:00.000Z')).toBeUndefined();
    expect(getDateIfWholeDay('2026-12-09T18:30:00.000Z', 'Asia/Kolkata')).toBeUndefined();
  });

  it.each([
    ['2026-12-09T10:59:59.999Z', 'Pacific/Auckland', '2026-12-09'],
    ['2026-12-09T11:59:59.999Z', 'Pacific/Fiji', '2026-12-09'],
    ['2026-12-10T11:59:59.999Z', null, '2026-12-09'],
    // The day of a former port.
    ['2026-12-10T07:59:59.999Z', 'Pacific/Auckland', '2026-12-09'],
  ])('with the last millisecond %s in %s are the date there', (end, zone, date) => {
    expect(getDateIfWholeDay(end, zone)).toBe(date);
  });

  it('are told from times by their form', () => {
    expect([isDateOnly('2026-12-09'), isDateOnly('2026-12-09T10:00'), isDateOnly('')]).toEqual([true, false, false]);
  });
});
