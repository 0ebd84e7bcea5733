import { declareQuotaTests } from '@tracking/testing';
import { InMemoryRequestQuota } from './memory-quota.ts';

declareQuotaTests('memory', (clock) => {
  const open = () => Promise.resolve(new InMemoryRequestQuota(clock));
  return { open, closeAndReopenPort: open, close: () => Promise.resolve(), reservedShare: 0 };
});
