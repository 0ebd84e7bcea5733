import { WakeUp } from './wake-up.ts';

const NEVER_MS = 2 ** 31 - 1;

describe('a wake-up', () => {
  it('ends a wait', async () => {
    const wakeUp = new WakeUp();
    const waited = wakeUp.wait(NEVER_MS);
    wakeUp.wake();
    await waited;
  });

  it('is not lost while nobody waits, and ends one wait only', async () => {
    const wakeUp = new WakeUp();
    wakeUp.wake();
    wakeUp.wake();
    await wakeUp.wait(NEVER_MS);

    let isWaiting = true;
    const second = wakeUp.wait(NEVER_MS).then(() => (isWaiting = false));
    await new Promise(setImmediate);
    expect(isWaiting).toBe(true);
    wakeUp.wake();
    await second;
  });

  it('is not waited for longer than told, nor beyond the signal', async () => {
    const wakeUp = new WakeUp();
    await wakeUp.wait(1);
    const stopping = new AbortController();
    const waited = wakeUp.wait(NEVER_MS, stopping.signal);
    stopping.abort();
    await waited;
    await wakeUp.wait(NEVER_MS, stopping.signal);
  });
});
