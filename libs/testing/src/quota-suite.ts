import { randomUUID } from 'node:crypto';
import type { Clock, RequestQuota } from '@tracking/ports';
import { type TestedAdapter, testIfSupported, SINGLE_PROCESS_SKIP_REASON } from './subject.ts';

/**
 * Milliseconds after which the full limit is available again: one minute, plus the one-second bucket of the oldest
 * request.
 */
const QUOTA_RESET_MS = 61_000;
const MINUTE_MS = 60_000;

interface TestedRequestQuotaAdapter extends TestedAdapter<RequestQuota> {
  /** Maximum share of a limit that stays unused in each process because processes share it; 0 if there is one process. */
  readonly reservedShare: number;
}

/**
 * Tests every guarantee of the port `RequestQuota`.
 * @param subjectAt creates a subject whose only clock is the given one
 */
export function declareQuotaTests(name: string, subjectAt: (clock: Clock) => TestedRequestQuotaAdapter): void {
  describe(`quota on ${name}`, () => {
    let now = Date.parse('2026-03-01T12:00:00.250Z');
    const subject = subjectAt(() => new Date(now));
    let quota: RequestQuota;
    let key: string;
    beforeAll(async () => void (quota = await subject.openTestedAdapter()));
    afterAll(() => subject.close());
    beforeEach(() => {
      key = randomUUID();
      now += 10 * MINUTE_MS;
    });

    /** Makes `attempts` requests and returns the number of admitted ones. */
    async function takeRequestsAndCountAdmitted(
      attempts: number,
      limit: number,
      from: RequestQuota = quota,
    ): Promise<number> {
      let admitted = 0;
      for (let attempt = 0; attempt < attempts; attempt += 1)
        if ((await from.takeQuotaForRequest(key, limit)).admitted) admitted += 1;
      return admitted;
    }
    const minAdmitted = (limit: number) => limit - Math.ceil(limit * subject.reservedShare);

    it('the quota admits requests up to the limit and no more', async () => {
      const admitted = await takeRequestsAndCountAdmitted(150, 100);
      expect(admitted).toBeLessThanOrEqual(100);
      expect(admitted).toBeGreaterThanOrEqual(minAdmitted(100));
    });

    it('the quota admits concurrent requests up to the limit and no more', async () => {
      const decisions = await Promise.all(Array.from({ length: 300 }, () => quota.takeQuotaForRequest(key, 200)));
      const admitted = decisions.filter((decision) => decision.admitted).length;
      expect(admitted).toBeLessThanOrEqual(200);
      expect(admitted).toBeGreaterThanOrEqual(minAdmitted(200));
    });

    it('the quota counts each key separately', async () => {
      await takeRequestsAndCountAdmitted(20, 10);
      expect((await quota.takeQuotaForRequest(`${key}-other`, 10)).admitted).toBe(true);
    });

    it('the quota admits requests again after a minute', async () => {
      await takeRequestsAndCountAdmitted(100, 100);
      now += MINUTE_MS - 1_000;
      expect((await quota.takeQuotaForRequest(key, 100)).admitted).toBe(false);
      now += QUOTA_RESET_MS - MINUTE_MS + 1_000;
      expect(await takeRequestsAndCountAdmitted(100, 100)).toBeGreaterThanOrEqual(minAdmitted(100));
    });

    it('the quota does not count refused requests', async () => {
      await takeRequestsAndCountAdmitted(10, 10);
      for (let second = 0; second < 59; second += 1) {
        now += 1_000;
        expect((await quota.takeQuotaForRequest(key, 10)).admitted).toBe(false);
      }
      now += 2_000;
      expect((await quota.takeQuotaForRequest(key, 10)).admitted).toBe(true);
    });

    it('the quota never exceeds the limit within any minute', async () => {
      const limit = 50;
      const admitted: number[] = [];
      // Fixed pseudo-random sequence of bursts and pauses around the boundaries of seconds and minutes.
      let seed = 1;
      const random = (below: number) => (seed = (seed * 48_271) % 2_147_483_647) % below;
      while (admitted.length < 600) {
        now += random(4) === 0 ? random(20_000) : random(40) * 25;
        for (let burst = random(12); burst > 0; burst -= 1)
          if ((await quota.takeQuotaForRequest(key, limit)).admitted) admitted.push(now);
      }
      admitted.forEach((from) => {
        expect(admitted.filter((at) => at >= from && at < from + MINUTE_MS).length).toBeLessThanOrEqual(limit);
      });
    });

    it('the quota returns the remaining requests and the time of the reset', async () => {
      const first = await quota.takeQuotaForRequest(key, 100);
      expect(first).toMatchObject({ admitted: true, limit: 100, retryAfter: 0 });
      expect(first.remaining).toBeLessThanOrEqual(99);
      expect(first.remaining).toBeGreaterThanOrEqual(minAdmitted(99));
      now += 7_000;
      const { resetAt } = await quota.takeQuotaForRequest(key, 100);
      expect(Number.isInteger(resetAt)).toBe(true);
      expect(resetAt * 1_000).toBeGreaterThan(now + MINUTE_MS - 1_000);
      now = resetAt * 1_000;
      expect((await quota.takeQuotaForRequest(key, 100)).remaining).toBeGreaterThanOrEqual(minAdmitted(99));
    });

    it('the quota returns the time of the next admitted request, and admits a request at that time', async () => {
      await takeRequestsAndCountAdmitted(5, 10);
      now += 20_000;
      await takeRequestsAndCountAdmitted(20, 10);
      const refused = await quota.takeQuotaForRequest(key, 10);
      expect(refused).toMatchObject({ admitted: false, remaining: 0 });
      expect(Number.isInteger(refused.retryAfter)).toBe(true);
      expect(refused.retryAfter).toBeGreaterThan(0);
      expect(refused.retryAfter).toBeLessThanOrEqual(41);
      now += refused.retryAfter * 1_000;
      expect((await quota.takeQuotaForRequest(key, 10)).admitted).toBe(true);
    });

    it('the quota applies the limit that the current call passes', async () => {
      await takeRequestsAndCountAdmitted(10, 10);
      expect((await quota.takeQuotaForRequest(key, 20)).admitted).toBe(true);
      const lowered = await quota.takeQuotaForRequest(key, 5);
      expect(lowered).toMatchObject({ admitted: false, remaining: 0, limit: 5 });
      now += lowered.retryAfter * 1_000;
      expect((await quota.takeQuotaForRequest(key, 5)).admitted).toBe(true);
    });

    it('the quota continues to count when the clock is set back', async () => {
      await takeRequestsAndCountAdmitted(10, 10);
      now -= 5 * MINUTE_MS;
      expect((await quota.takeQuotaForRequest(key, 10)).admitted).toBe(false);
      now += QUOTA_RESET_MS;
      expect((await quota.takeQuotaForRequest(key, 10)).admitted).toBe(true);
    });

    it.each([1, 2, 17, 30, 45, 59, 60, 61, 62, 90, 121, 150, 3_600])(
      'the quota admits no additional requests when the clock is set back by %d s',
      async (seconds) => {
        await takeRequestsAndCountAdmitted(10, 10);
        now -= seconds * 1_000;
        expect(await takeRequestsAndCountAdmitted(10, 10)).toBe(0);
        now += 50_000;
        expect(await takeRequestsAndCountAdmitted(10, 10)).toBe(0);
      },
    );

    testIfSupported(subject.openSecond !== undefined, SINGLE_PROCESS_SKIP_REASON)(
      'the quota shares the limit with other processes',
      async () => {
        const other = (await subject.openSecond?.()) ?? quota;
        const admitted =
          (await takeRequestsAndCountAdmitted(60, 100)) +
          (await takeRequestsAndCountAdmitted(100, 100, other)) +
          (await takeRequestsAndCountAdmitted(100, 100));
        expect(admitted).toBeLessThanOrEqual(100);
        expect(admitted).toBeGreaterThanOrEqual(100 - 2 * Math.ceil(100 * subject.reservedShare));
      },
    );
  });
}
