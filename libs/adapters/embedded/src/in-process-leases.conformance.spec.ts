import { leasesConformance } from '@tracking/testing';
import { embeddedSubject } from '../test/embedded-subject.ts';

leasesConformance(
  'one process',
  embeddedSubject(({ leases }) => leases),
);
