import { DutyCycle } from './duty-cycle.ts';

describe('a duty cycle', () => {
  let now = 0;
  const rests: number[] = [];
  const rest = async (ms: number) => void rests.push(ms);
  const cycle = (share: number) => new DutyCycle({ share, elapsed: () => now, rest });
  const taking = (ms: number) => async () => {
    now += ms;
    return ms;
  };
  const { signal } = new AbortController();

  beforeEach(() => void rests.splice(0));

  it('rests after each stretch, so that work takes its share of the time', async () => {
    const quarter = cycle(0.25);
    expect(await quarter.work(taking(10), signal)).toBe(10);
    await quarter.work(taking(2), signal);
    expect(rests).toEqual([30, 6]);
  });

  it('never rests where all the time is its own', async () => {
    await cycle(1).work(taking(10), signal);
    expect(rests).toEqual([0]);
  });

  it('does not make up for an engine that was away for long', async () => {
    await cycle(0.1).work(taking(60_000), signal);
    expect(rests).toEqual([5_000]);
  });

  it('hands on what fails', async () => {
    const failing = cycle(0.5).work(() => Promise.reject(new Error('away')), signal);
    await expect(failing).rejects.toThrow('away');
  });

  it('ends its rest when the work is to end', async () => {
    const ending = new AbortController();
    const stretch = async () => {
      now += 1_000_000;
      ending.abort();
    };
    await new DutyCycle({ share: 0.5, elapsed: () => now }).work(stretch, ending.signal);
  });
});
