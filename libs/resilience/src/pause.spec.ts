import { withDeadline } from './pause.ts';

const LONG_MS = 2 ** 31 - 1;
const late = () => new Error('late');

describe('a promise with a deadline', () => {
  it('answers, or fails, as it does by itself', async () => {
    await expect(withDeadline(Promise.resolve('done'), LONG_MS, late)).resolves.toBe('done');
    await expect(withDeadline(Promise.reject(new Error('away')), LONG_MS, late)).rejects.toThrow('away');
  });

  it('fails with what is made for that where it is late, whatever it does then', async () => {
    const slow = Promise.withResolvers<string>();
    await expect(withDeadline(slow.promise, 1, late)).rejects.toThrow('late');
    slow.reject(new Error('away'));
    await new Promise(setImmediate);
  });
});
