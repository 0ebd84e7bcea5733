import { HeldLease, type LeaseRecordStore, SYSTEM_LEASE_CLOCK } from './held-lease.ts';

const TTL_MS = 3_600_000;
const records = { updateLease: () => Promise.resolve(true) } as unknown as LeaseRecordStore;

describe('a lease', () => {
  let lease: HeldLease;
  let ends: HeldLease[];

  /** @param sentAt time of the write, in milliseconds since the start of this process */
  function heldSince(sentAt: number): void {
    const record = { id: 'l', epoch: 1, holder: 'me', beat: 0 };
    const onEnd = (ended: HeldLease) => void ends.push(ended);
    const time = SYSTEM_LEASE_CLOCK;
    lease = new HeldLease({ records, record, sentAt, ttlMs: TTL_MS, time, onFailure: () => undefined, onEnd });
  }

  beforeEach(() => (ends = []));
  afterEach(() => lease.releaseLease());

  test('is held until it is released', async () => {
    heldSince(0);
    expect(lease.isLeaseHeld()).toBe(true);
    await lease.releaseLease();
    expect(lease.isLeaseHeld()).toBe(false);
    expect(ends).toEqual([lease]);
  });

  test('that was not renewed for two thirds of its time is invalid when checked, before any timer runs', () => {
    heldSince((-2 / 3) * TTL_MS);
    expect(lease.lost.aborted).toBe(false);
    expect(lease.isLeaseHeld()).toBe(false);
    expect(lease.lost.aborted).toBe(true);
    expect(lease.isLeaseHeld()).toBe(false);
    expect(ends).toEqual([lease]);
  });
});
