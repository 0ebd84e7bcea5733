import type { Lease, LeaseSource } from '@tracking/ports';
import {
  BackgroundWorkThrottle,
  LeaderElectedJob,
  type LeaderElectedJobOptions,
  WakeUpSignal,
} from './background-jobs.ts';

const NEVER_MS = 2 ** 31 - 1;

/** A single lease that one holder at a time can acquire. */
class OneLease implements LeaseSource {
  held: (Lease & { lose(): void; requestHandOver(): void }) | undefined;
  acquired = 0;

  async acquireLease(name: string, signal: AbortSignal): Promise<Lease> {
    while (this.held !== undefined) await new Promise(setImmediate);
    signal.throwIfAborted();
    const ended = new AbortController();
    const release = async () => this.end(ended);
    this.acquired += 1;
    const isHeld = () => !ended.signal.aborted;
    const requested = new AbortController();
    this.held = {
      ...{
        name,
        epoch: this.acquired,
        lost: ended.signal,
        isLeaseHeld: isHeld,
        releaseLease: release,
        lose: () => this.end(ended),
      },
      ...{ handOverRequested: requested.signal, requestHandOver: () => requested.abort() },
    };
    return this.held;
  }

  private end(ended: AbortController): void {
    ended.abort();
    this.held = undefined;
  }
}

describe('a leader-elected job', () => {
  const leases = new OneLease();
  const lines: string[] = [];
  const note = (_: object, message: string) => void lines.push(message);
  const logger = { debug: note, info: note, warn: note, error: note };
  let retries = 0;
  let rounds: AsyncGenerator<AbortSignal>;
  let job: LeaderElectedJob;

  function start(everyMs: number, doRound: LeaderElectedJobOptions['runJobRound'] = async () => undefined): void {
    const begun: AbortSignal[] = [];
    const round: LeaderElectedJobOptions['runJobRound'] = async (ending, lease) => {
      begun.push(ending);
      await doRound(ending, lease);
    };
    rounds = (async function* () {
      for (;;) {
        const next = begun.shift();
        if (next === undefined) await new Promise(setImmediate);
        else yield next;
      }
    })();
    const countRetry = () => void (retries += 1);
    job = new LeaderElectedJob({
      leases,
      lease: 'job',
      logger,
      countRetry,
      description: 'sweeping',
      intervalMs: everyMs,
      runJobRound: round,
    });
    job.startJobRounds();
  }

  const nextRound = async () => (await rounds.next()).value as AbortSignal;

  afterEach(() => job.stopJobRounds());

  it('runs repeatedly while it holds the lease', async () => {
    start(1);
    for (let round = 0; round < 3; round += 1) expect((await nextRound()).aborted).toBe(false);
    expect(leases.held?.name).toBe('job');
  });

  it('runs immediately when woken, also during a round', async () => {
    start(NEVER_MS);
    await nextRound();
    job.wakeJob();
    await nextRound();
  });

  it('ends a round when the lease is lost, and runs again with the next lease', async () => {
    start(NEVER_MS);
    const first = await nextRound();
    const before = leases.acquired;
    leases.held?.lose();
    expect(first.aborted).toBe(true);
    await nextRound();
    expect(leases.acquired).toBe(before + 1);
  });

  it('ends a round and releases the lease when another process should hold it', async () => {
    start(NEVER_MS);
    const first = await nextRound();
    const requested = leases.held;
    requested?.requestHandOver();
    expect(first.aborted).toBe(true);
    await nextRound();
    expect(requested?.isLeaseHeld()).toBe(false);
  });

  it('lets a round check that its lease is held', async () => {
    const held: boolean[] = [];
    start(NEVER_MS, async (_, lease) => {
      held.push(lease.isLeaseHeld());
      if (held.length > 1) return;
      leases.held?.lose();
      held.push(lease.isLeaseHeld());
    });
    await nextRound();
    await nextRound();
    expect(held).toEqual([true, false, true]);
  });

  it('releases the lease after a failed round, logs the failure, and retries', async () => {
    let failures = 0;
    start(NEVER_MS, async () => {
      if ((failures += 1) === 1) throw new Error('the store is away');
    });
    await nextRound();
    await nextRound();
    expect(retries).toBe(1);
    expect(lines).toEqual(['sweeping failed; retrying']);
  });

  it('releases the lease when it stops', async () => {
    start(NEVER_MS);
    await nextRound();
    await job.stopJobRounds();
    expect(leases.held).toBeUndefined();
  });
});

describe('a duty cycle', () => {
  let now = 0;
  const rests: number[] = [];
  const rest = async (ms: number) => void rests.push(ms);
  const cycle = (share: number) => new BackgroundWorkThrottle({ share, elapsed: () => now, rest });
  const taking = (ms: number) => async () => {
    now += ms;
    return ms;
  };
  const { signal } = new AbortController();

  beforeEach(() => void rests.splice(0));

  it('rests after each run, so that work has its share of the time', async () => {
    const quarter = cycle(0.25);
    expect(await quarter.runWorkThenRest(taking(10), signal)).toBe(10);
    await quarter.runWorkThenRest(taking(2), signal);
    expect(rests).toEqual([30, 6]);
  });

  it('never rests if its share is all of the time', async () => {
    await cycle(1).runWorkThenRest(taking(10), signal);
    expect(rests).toEqual([0]);
  });

  it('limits its rest after an engine outage', async () => {
    await cycle(0.1).runWorkThenRest(taking(60_000), signal);
    expect(rests).toEqual([5_000]);
  });

  it('throws the error of the work', async () => {
    const failing = cycle(0.5).runWorkThenRest(() => Promise.reject(new Error('away')), signal);
    await expect(failing).rejects.toThrow('away');
  });

  it('ends its rest when the work must end', async () => {
    const ending = new AbortController();
    const stretch = async () => {
      now += 1_000_000;
      ending.abort();
    };
    await new BackgroundWorkThrottle({ share: 0.5, elapsed: () => now }).runWorkThenRest(stretch, ending.signal);
  });
});

describe('a wake-up', () => {
  it('ends a wait', async () => {
    const wakeUp = new WakeUpSignal();
    const waited = wakeUp.waitForWakeUp(NEVER_MS);
    wakeUp.signalWakeUp();
    await waited;
  });

  it('is kept while nothing waits, and ends only one wait', async () => {
    const wakeUp = new WakeUpSignal();
    wakeUp.signalWakeUp();
    wakeUp.signalWakeUp();
    await wakeUp.waitForWakeUp(NEVER_MS);

    let isWaiting = true;
    const second = wakeUp.waitForWakeUp(NEVER_MS).then(() => (isWaiting = false));
    await new Promise(setImmediate);
    expect(isWaiting).toBe(true);
    wakeUp.signalWakeUp();
    await second;
  });

  it('is not awaited longer than the timeout, or after the signal', async () => {
    const wakeUp = new WakeUpSignal();
    await wakeUp.waitForWakeUp(1);
    const stopping = new AbortController();
    const waited = wakeUp.waitForWakeUp(NEVER_MS, stopping.signal);
    stopping.abort();
    await waited;
    await wakeUp.waitForWakeUp(NEVER_MS, stopping.signal);
  });
});
