import { randomUUID } from 'node:crypto';
import type { Clock, Quota } from '@tracking/ports';
import { type AdapterSubject, itWhere, ONE_PROCESS } from './subject.ts';

/** A minute, and the bucket of a second that the oldest request may stand at the beginning of. */
const FREE_AGAIN_MS = 61_000;
const MINUTE_MS = 60_000;

interface QuotaSubject extends AdapterSubject<Quota> {
  /** Most requests that a process may hold back of a limit, as a part of it: 0 where it counts for itself alone. */
  readonly heldBack: number;
}

/** Every promise of the `Quota` port. @param subjectAt makes a subject whose only clock is the one given */
export function quotaConformance(name: string, subjectAt: (clock: Clock) => QuotaSubject): void {
  describe(`quota on ${name}`, () => {
    let now = Date.parse('2026-03-01T12:00:00.250Z');
    const subject = subjectAt(() => new Date(now));
    let quota: Quota;
    let key: string;
    beforeAll(async () => void (quota = await subject.open()));
    afterAll(() => subject.close());
    beforeEach(() => {
      key = randomUUID();
      now += 10 * MINUTE_MS;
    });

    /** How many of `attempts` were admitted. */
    async function take(attempts: number, limit: number, from: Quota = quota): Promise<number> {
      let admitted = 0;
      for (let attempt = 0; attempt < attempts; attempt += 1) if ((await from.take(key, limit)).admitted) admitted += 1;
      return admitted;
    }
    const least = (limit: number) => limit - Math.ceil(limit * subject.heldBack);

    it('admits the limit and no more', async () => {
      const admitted = await take(150, 100);
      expect(admitted).toBeLessThanOrEqual(100);
      expect(admitted).toBeGreaterThanOrEqual(least(100));
    });

    it('admits the limit and no more of many at once', async () => {
      const decisions = await Promise.all(Array.from({ length: 300 }, () => quota.take(key, 200)));
      const admitted = decisions.filter((decision) => decision.admitted).length;
      expect(admitted).toBeLessThanOrEqual(200);
      expect(admitted).toBeGreaterThanOrEqual(least(200));
    });

    it('counts each key for itself', async () => {
      await take(20, 10);
      expect((await quota.take(`${key}-other`, 10)).admitted).toBe(true);
    });

    it('admits again when a minute has gone by', async () => {
      await take(100, 100);
      now += MINUTE_MS - 1_000;
      expect((await quota.take(key, 100)).admitted).toBe(false);
      now += FREE_AGAIN_MS - MINUTE_MS + 1_000;
      expect(await take(100, 100)).toBeGreaterThanOrEqual(least(100));
    });

    it('takes nothing for a refused request', async () => {
      await take(10, 10);
      for (let second = 0; second < 59; second += 1) {
        now += 1_000;
        expect((await quota.take(key, 10)).admitted).toBe(false);
      }
      now += 2_000;
      expect((await quota.take(key, 10)).admitted).toBe(true);
    });

    it('is never exceeded in any minute', async () => {
      const limit = 50;
      const admitted: number[] = [];
      // A fixed sequence that looks like none: bursts and pauses that meet the edges of seconds and minutes.
      let seed = 1;
      const random = (below: number) => (seed = (seed * 48_271) % 2_147_483_647) % below;
      while (admitted.length < 600) {
        now += random(4) === 0 ? random(20_000) : random(40) * 25;
        for (let burst = random(12); burst > 0; burst -= 1)
          if ((await quota.take(key, limit)).admitted) admitted.push(now);
      }
      admitted.forEach((from) => {
        expect(admitted.filter((at) => at >= from && at < from + MINUTE_MS).length).toBeLessThanOrEqual(limit);
      });
    });

    it('says how many are left, and when all are free again', async () => {
      const first = await quota.take(key, 100);
      expect(first).toMatchObject({ admitted: true, limit: 100, retryAfter: 0 });
      expect(first.remaining).toBeLessThanOrEqual(99);
      expect(first.remaining).toBeGreaterThanOrEqual(least(99));
      now += 7_000;
      const { resetAt } = await quota.take(key, 100);
      expect(Number.isInteger(resetAt)).toBe(true);
      expect(resetAt * 1_000).toBeGreaterThan(now + MINUTE_MS - 1_000);
      now = resetAt * 1_000;
      expect((await quota.take(key, 100)).remaining).toBeGreaterThanOrEqual(least(99));
    });

    it('says when to come again, and admits one then', async () => {
      await take(5, 10);
      now += 20_000;
      await take(20, 10);
      const refused = await quota.take(key, 10);
      expect(refused).toMatchObject({ admitted: false, remaining: 0 });
      expect(Number.isInteger(refused.retryAfter)).toBe(true);
      expect(refused.retryAfter).toBeGreaterThan(0);
      expect(refused.retryAfter).toBeLessThanOrEqual(41);
      now += refused.retryAfter * 1_000;
      expect((await quota.take(key, 10)).admitted).toBe(true);
    });

    it('goes by the limit of the moment', async () => {
      await take(10, 10);
      expect((await quota.take(key, 20)).admitted).toBe(true);
      const lowered = await quota.take(key, 5);
      expect(lowered).toMatchObject({ admitted: false, remaining: 0, limit: 5 });
      now += lowered.retryAfter * 1_000;
      expect((await quota.take(key, 5)).admitted).toBe(true);
    });

    it('goes on when the clock is set back', async () => {
      await take(10, 10);
      now -= 5 * MINUTE_MS;
      expect((await quota.take(key, 10)).admitted).toBe(false);
      now += FREE_AGAIN_MS;
      expect((await quota.take(key, 10)).admitted).toBe(true);
    });

    it.each([1, 2, 17, 30, 45, 59, 60, 61, 62, 90, 121, 150, 3_600])(
      'admits no more when set back by %d s',
      async (seconds) => {
        await take(10, 10);
        now -= seconds * 1_000;
        expect(await take(10, 10)).toBe(0);
        now += 50_000;
        expect(await take(10, 10)).toBe(0);
      },
    );

    itWhere(subject.another !== undefined, ONE_PROCESS)('is shared with other processes', async () => {
      const other = (await subject.another?.()) ?? quota;
      const admitted = (await take(60, 100)) + (await take(100, 100, other)) + (await take(100, 100));
      expect(admitted).toBeLessThanOrEqual(100);
      expect(admitted).toBeGreaterThanOrEqual(100 - 2 * Math.ceil(100 * subject.heldBack));
    });
  });
}
