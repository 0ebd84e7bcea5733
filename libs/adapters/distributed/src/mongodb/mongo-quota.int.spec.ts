import type { DocumentStore } from '@tracking/ports';
import { eventually } from '@tracking/testing';
import { createMongoSubject, describeWithMongo } from '../../test/mongodb/mongo-subject.ts';
import { MongoQuota } from './mongo-quota.ts';

describeWithMongo('records of the quota on MongoDB', () => {
  let now = Date.parse('2026-03-01T12:00:00.250Z');
  const subject = createMongoSubject((store: DocumentStore) => {
    const quota = new MongoQuota(store, () => new Date(now));
    return { store, quota, close: () => quota.close() };
  });
  afterAll(() => subject.close());

  it('are deleted when they no longer count, and start again for processes that cached one', async () => {
    const { store, quota } = await subject.openTestedAdapter();
    const { quota: another } = (await subject.openSecond?.()) ?? (await subject.closeAndReopenAdapter());
    const records = await store.collection({ name: 'quota', indexes: [] });
    await quota.takeQuotaForRequest('kept', 10);
    for (let n = 0; n < 30; n += 1) await quota.takeQuotaForRequest(`asked-once-${n}`, 10);
    // While the store responds late, the quota counts in memory, and a later sweep stores the counts.
    await eventually(async () => {
      await quota.renewAndSweepQuotaReservations();
      expect(await records.count({})).toBe(31);
    });
    // Each quota also sweeps every second, and searches for old records once per minute of the test's clock.
    const left = async (count: number) => {
      await another.renewAndSweepQuotaReservations();
      expect(await records.count({})).toBe(count);
    };
    now += 100_000;
    await quota.takeQuotaForRequest('kept', 10);
    now += 60_000;
    await eventually(() => left(1));
    now += 200_000;
    await eventually(() => left(0));
    for (let n = 0; n < 10; n += 1) expect((await quota.takeQuotaForRequest('kept', 10)).admitted).toBe(true);
    expect((await quota.takeQuotaForRequest('kept', 10)).admitted).toBe(false);
    // The request counts for other processes too.
    expect((await another.takeQuotaForRequest('kept', 10)).admitted).toBe(false);
  });
});
