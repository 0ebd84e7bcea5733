import { testQuota } from '@tracking/testing';
import { MemoryQuota } from './memory-quota.ts';

testQuota('memory', (clock) => {
  const open = () => Promise.resolve(new MemoryQuota(clock));
  return { open, reopen: open, close: () => Promise.resolve(), reservedShare: 0 };
});
