import { readFile } from 'node:fs/promises';
import { PLACE_TABLE_FILE } from './make-table.ts';

describe('the table of known places', () => {
  let rows: readonly (readonly string[])[];
  beforeAll(async () => {
    const text = await readFile(PLACE_TABLE_FILE, 'utf8');
    rows = text
      .trimEnd()
      .split('\n')
      .map((line) => line.split('\t'));
  });

  it('has each code once', () => {
    expect(new Set(rows.map(([code]) => code)).size).toBe(rows.length);
    expect(rows.filter((row) => row[0]?.length === 5).length).toBeGreaterThan(1_600);
    expect(rows.filter((row) => row[0]?.length === 3).length).toBeGreaterThan(10_000);
  });

  it('has only valid coordinates and existing time zones', () => {
    const zones = new Set(rows.map((row) => row[5]).filter((zone) => zone !== ''));
    for (const zone of zones) expect(() => new Intl.DateTimeFormat('en', { timeZone: zone })).not.toThrow();
    expect(rows.filter((row) => !(Math.abs(Number(row[3])) <= 90 && Math.abs(Number(row[4])) <= 180))).toEqual([]);
  });

  it.each([
    ['USOAK', 'America/Los_Angeles'],
    ['BRMAO', 'America/Manaus'],
    ['GBBAD', 'Europe/London'],
    ['INNSA', 'Asia/Kolkata'],
    ['AUBWT', 'Australia/Melbourne'],
    ['BWT', 'Australia/Hobart'],
  ])('corrects the time zone of %s', (code, zone) => {
    expect(rows.find((row) => row[0] === code)?.[5]).toBe(zone);
  });
});
