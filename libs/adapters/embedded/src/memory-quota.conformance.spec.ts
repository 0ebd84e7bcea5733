import { quotaConformance } from '@tracking/testing';
import { MemoryQuota } from './memory-quota.ts';

quotaConformance('memory', (clock) => {
  const open = () => Promise.resolve(new MemoryQuota(clock));
  return { open, reopen: open, close: () => Promise.resolve(), reservedShare: 0 };
});
