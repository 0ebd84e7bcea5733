import { testLeases } from '@tracking/testing';
import { embeddedSubject } from '../test/embedded-subject.ts';

testLeases(
  'one process',
  embeddedSubject(({ leases }) => leases),
);
