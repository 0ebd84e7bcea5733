import { parseTimestamp, describeTimestampFault } from './timestamp.ts';

describe('parseTimestamp', () => {
  it.each([
    ['2026-11-21T09:30:00Z', '2026-11-21T09:30:00.000Z'],
    ['2026-11-21t09:30:00z', '2026-11-21T09:30:00.000Z'],
    ['2026-11-21T09:30:00+08:00', '2026-11-21T01:30:00.000Z'],
    ['2026-01-01T00:30:00+05:45', '2025-12-31T18:45:00.000Z'],
    ['2026-12-31T23:30:00-03:30', '2027-01-01T03:00:00.000Z'],
    ['2026-11-21T09:30:00-00:00', '2026-11-21T09:30:00.000Z'],
    ['2026-11-21T09:30:00.1Z', '2026-11-21T09:30:00.100Z'],
    ['2026-11-21T09:30:00.123999999Z', '2026-11-21T09:30:00.123Z'],
    ['2024-02-29T00:00:00Z', '2024-02-29T00:00:00.000Z'],
    ['2000-02-29T00:00:00Z', '2000-02-29T00:00:00.000Z'],
    ['1900-01-01T00:00:00Z', '1900-01-01T00:00:00.000Z'],
    ['2999-12-31T23:59:59.999Z', '2999-12-31T23:59:59.999Z'],
  ])('reads %s as %s', (text, expected) => {
    expect(parseTimestamp(text)).toBe(expected);
  });

  it.each([
    ['2016-12-31T23:59:60Z', '2017-01-01T00:00:00.000Z'],
    ['2017-01-01T08:59:60.500+09:00', '2017-01-01T00:00:00.000Z'],
  ])('reads the leap second %s as the next second', (text, expected) => {
    expect(parseTimestamp(text)).toBe(expected);
  });

  it.each([
    ['without an offset', '2026-11-21T09:30:00'],
    ['without a time', '2026-11-21'],
    ['without seconds', '2026-11-21T09:30Z'],
    ['with a blank for the T', '2026-11-21 09:30:00Z'],
    ['with an offset without a colon', '2026-11-21T09:30:00+0800'],
    ['with a comma before the fraction', '2026-11-21T09:30:00,5Z'],
    ['with an empty fraction', '2026-11-21T09:30:00.Z'],
    ['with something after it', '2026-11-21T09:30:00Z\n'],
    ['as a number', '1795253400000'],
    ['with two-digit years', '0026-11-21T09:30:00Z'],
    ['with five-digit years', '12026-11-21T09:30:00Z'],
    ['with a year before 1900', '1899-12-31T23:59:59Z'],
    ['with a year that only its offset puts before 1900', '1900-01-01T00:00:00+01:00'],
    ['with a year after 2999', '9999-12-31T23:59:59Z'],
    ['with a year that only its offset puts after 2999', '2999-12-31T23:59:59-01:00'],
    ['of a month 0', '2026-00-21T09:30:00Z'],
    ['of a month 13', '2026-13-21T09:30:00Z'],
    ['of a day 0', '2026-11-00T09:30:00Z'],
    ['of November 31', '2026-11-31T09:30:00Z'],
    ['of February 29 in a common year', '2026-02-29T09:30:00Z'],
    ['of February 29 in 2100', '2100-02-29T09:30:00Z'],
    ['of hour 24', '2026-11-21T24:00:00Z'],
    ['of minute 60', '2026-11-21T09:60:00Z'],
    ['of second 61', '2026-12-31T23:59:61Z'],
    ['of a leap second in the middle of a day', '2026-11-21T09:30:60Z'],
    ['of a leap second that is none in UTC', '2016-12-31T23:59:60+01:00'],
    ['with an offset of 24 hours', '2026-11-21T09:30:00+24:00'],
    ['with an offset of 60 minutes', '2026-11-21T09:30:00+01:60'],
    ['with digits of another script', '２０２６-11-21T09:30:00Z'],
    ['with an endless fraction', `2026-11-21T09:30:00.${'1'.repeat(10_000)}Z`],
    ['that is empty', ''],
  ])('refuses a time %s', (_what, text) => {
    expect(parseTimestamp(text)).toBeUndefined();
  });
});

describe('describeTimestampFault', () => {
  it.each([
    ['2026-11-21T09:30:00', /must have a time zone offset/i],
    ['2026-11-21T09:30:00.123', /must have a time zone offset/i],
    ['2026-11-21 09:30', /must have a time zone offset/i],
    ['2026-11-21', /must also have a time/i],
    ['2026-11-21T17:30:00 08:00', /%2B/],
    ['2026-11-21T17:30:00.000 08:00', /%2B/],
    ['2026-02-30T09:30:00Z', /date 2026-02-30 does not exist/],
    ['2026-13-01T09:30:00Z', /date 2026-13-01 does not exist/],
    ['2026-11-21T24:00:00Z', /time 24:00:00 does not exist/],
    ['2026-11-21T09:30:61Z', /time 09:30:61 does not exist/],
    ['2026-11-21T09:30:60Z', /time 09:30:60 does not exist: a leap second/],
    ['2026-11-21T09:30:00+24:00', /offset \+24:00 does not exist/],
    ['1899-12-31T23:59:59Z', /a year from 1900 to 2999/],
    ['0026-11-21T09:30:00Z', /a year from 1900 to 2999/],
    ['1900-01-01T00:00:00+01:00', /a year from 1900 to 2999/],
    ['2026-11-21T09:30:00+0800', /RFC 3339/],
    ['21.11.2026 09:30', /RFC 3339/],
    ['1795253400000', /RFC 3339/],
    ['tomorrow', /RFC 3339/],
    ['', /RFC 3339/],
    [`2026-11-21T09:30:00.${'1'.repeat(10_000)}Z`, /RFC 3339/],
  ])('explains the fault of %.30s', (text, message) => {
    expect(describeTimestampFault(text)).toMatch(message);
    expect(describeTimestampFault(text)?.length).toBeLessThan(120);
  });

  it('returns undefined for a valid time', () => {
    expect(describeTimestampFault('2026-11-21T09:30:00+08:00')).toBeUndefined();
  });
});
