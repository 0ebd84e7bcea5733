import { declareQuotaTests } from '@tracking/testing';
import { InMemoryRequestQuota } from './memory-quota.ts';

declareQuotaTests('memory', (clock) => {
  const open = () => Promise.resolve(new InMemoryRequestQuota(clock));
  return { openTestedAdapter: open, closeAndReopenAdapter: open, close: () => Promise.resolve(), reservedShare: 0 };
});
