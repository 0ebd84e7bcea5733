import { declareLeaseTests } from '@tracking/testing';
import { createEmbeddedAdapterForTest } from '../test/embedded-subject.ts';

declareLeaseTests(
  'one process',
  createEmbeddedAdapterForTest(({ leases }) => leases),
);
