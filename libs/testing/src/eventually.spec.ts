import { eventually } from './eventually.ts';

describe('eventually', () => {
  it('answers what the first attempt that succeeds answers', async () => {
    let attempts = 0;
    const answer = await eventually(() => {
      attempts += 1;
      if (attempts < 4) throw new Error('not yet');
      return `attempt ${attempts}`;
    });
    expect(answer).toBe('attempt 4');
  });

  it('waits for attempts that take their time', async () => {
    expect(await eventually(() => Promise.resolve(1))).toBe(1);
  });

  it('throws what the last attempt threw, at the deadline', async () => {
    let attempts = 0;
    const given = eventually(() => Promise.reject(new Error(`attempt ${(attempts += 1)}`)), { deadlineMs: 20 });
    await expect(given).rejects.toThrow(/^attempt \d+$/);
    expect(attempts).toBeGreaterThan(1);
    await expect(given).rejects.toThrow(`attempt ${attempts}`);
  });
});
