import { dayIn, daysBetween, instantOf, isSameClock, wallClockOf, zoneLabel } from './zones.ts';

describe('wall clocks', () => {
  it.each([
    ['2026-11-21T10:30', 'Asia/Shanghai', '2026-11-21T02:30:00.000Z'],
    ['2026-07-01T00:00', 'Europe/Amsterdam', '2026-06-30T22:00:00.000Z'],
    ['2026-12-01T00:00', 'Europe/Amsterdam', '2026-11-30T23:00:00.000Z'],
    ['2026-07-01T12:00', 'Asia/Kolkata', '2026-07-01T06:30:00.000Z'],
    ['2026-07-01T12:00', 'UTC', '2026-07-01T12:00:00.000Z'],
  ])('%s in %s is %s, and back', (wall, zone, instant) => {
    expect(instantOf(wall, zone)).toBe(instant);
    expect(wallClockOf(instant, zone)).toBe(wall);
  });

  it('show nothing of no time', () => {
    expect(wallClockOf(null, 'UTC')).toBe('');
  });

  it('say which zone they are of', () => {
    expect(zoneLabel('America/New_York', '2026-07-01T12:00:00Z')).toBe('New York, UTC−4');
    expect(zoneLabel('Asia/Kolkata', '2026-07-01T12:00:00Z')).toBe('Kolkata, UTC+5:30');
    expect(zoneLabel('Europe/London', '2026-12-01T12:00:00Z')).toBe('London, UTC');
  });
});

describe('days and clocks', () => {
  it('show the same in some zones', () => {
    expect(isSameClock('2026-12-01T12:00:00Z', 'Europe/Amsterdam', 'Europe/Berlin')).toBe(true);
    expect(isSameClock('2026-12-01T12:00:00Z', 'Europe/Amsterdam', 'UTC')).toBe(false);
  });

  it('are another day elsewhere', () => {
    expect(dayIn('2026-11-24T20:00:00Z', 'Asia/Shanghai')).toBe('2026-11-25');
  });

  it('are counted from one to another, whatever the clocks do between', () => {
    expect(daysBetween('2026-10-24', '2026-10-26')).toBe(2);
    expect(daysBetween('2026-11-24', '2026-11-22')).toBe(-2);
  });
});
