import { testLeases } from '@tracking/testing';
import { createEmbeddedSubject } from '../test/embedded-subject.ts';

testLeases(
  'one process',
  createEmbeddedSubject(({ leases }) => leases),
);
