import { fromLocalInput, readTime, toLocalInput } from './local-time.ts';

describe('times of fields', () => {
  it.each(['2026-11-23T09:30:00.000Z', '2026-03-29T01:30:00.000Z', '2026-10-25T00:30:00.000Z'])(
    'come back as they went, %s',
    (time) => expect(fromLocalInput(toLocalInput(time))).toBe(time),
  );

  it('are empty where there is none', () => {
    expect(toLocalInput(undefined)).toBe('');
    expect(fromLocalInput('')).toBeUndefined();
    expect(fromLocalInput('soon')).toBeUndefined();
  });

  it.each([
    ['2026-11-23T09:30:00+01:00', '2026-11-23T08:30:00.000Z'],
    ['yesterday', undefined],
    [7, undefined],
  ])('in an address, %j', (said, time) => expect(readTime(said)).toBe(time));
});
