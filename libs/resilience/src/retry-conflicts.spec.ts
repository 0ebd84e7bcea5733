import { Busy, Unavailable } from '@tracking/ports';
import { retryConflicts } from './retry-conflicts.ts';

describe('retryConflicts', () => {
  it('repeats a refused attempt until it writes', async () => {
    let attempts = 0;
    const written = await retryConflicts('thing 1', () => Promise.resolve((attempts += 1) < 4 ? undefined : 'written'));
    expect([written, attempts]).toEqual(['written', 4]);
  });

  it('pauses between attempts, so that a write of another replica becomes readable', async () => {
    let isReadable = false;
    let attempts = 0;
    setImmediate(() => (isReadable = true));
    await retryConflicts('thing 1', () => {
      attempts += 1;
      return attempts > 1_000 ? Promise.reject(new Error('no pause')) : Promise.resolve(isReadable || undefined);
    });
    expect(attempts).toBeLessThan(1_000);
  });

  it('throws Busy with the name of the resource once the deadline has passed', async () => {
    const refused = retryConflicts('thing 1', () => Promise.resolve(undefined), 0);
    await expect(refused).rejects.toThrow(
      new Busy('document store', 'too many requests change thing 1 at the same time'),
    );
    await expect(refused).rejects.toBeInstanceOf(Busy);
  });

  it('does not repeat an attempt that throws', async () => {
    let attempts = 0;
    const away = new Unavailable('document store', 'no answer');
    const failed = retryConflicts('thing 1', () => {
      attempts += 1;
      return Promise.reject(away);
    });
    await expect(failed).rejects.toBe(away);
    expect(attempts).toBe(1);
  });
});
