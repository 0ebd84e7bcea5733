import { eventStoreConformance } from '@tracking/testing';
import { embeddedSubject } from '../test/embedded-subject.ts';

eventStoreConformance(
  'SQLite',
  embeddedSubject(({ eventStore }) => eventStore),
);
