import { freeTimeLabel, freeTimeOf } from './free-time.ts';

const container = {
  ...{ last_free_day: '2026-11-26', empty_return_by: '2026-12-05' },
  ...{ gated_out_at: null, empty_returned_at: null },
};

describe('free time of a container', () => {
  it('is that at the terminal until it leaves, then that until it is back', () => {
    expect(freeTimeOf(container, '2026-11-24')).toEqual({ kind: 'demurrage', until: '2026-11-26', daysLeft: 2 });
    const out = { ...container, gated_out_at: '2026-11-25T10:00:00.000Z' };
    expect(freeTimeOf(out, '2026-11-25')).toEqual({ kind: 'detention', until: '2026-12-05', daysLeft: 10 });
    expect(freeTimeOf({ ...out, empty_returned_at: '2026-12-01T10:00:00.000Z' }, '2026-12-01')).toBeNull();
  });

  it('is none where nobody said until when', () => {
    expect(freeTimeOf({ ...container, last_free_day: null }, '2026-11-24')).toBeNull();
  });

  it.each([
    ['2026-11-24', '2 days left'],
    ['2026-11-25', '1 day left'],
    ['2026-11-26', 'last free day'],
    ['2026-11-27', '1 day over'],
  ])('on %s is called %s', (today, label) => {
    const free = freeTimeOf(container, today);
    expect(free && freeTimeLabel(free)).toBe(label);
  });
});
