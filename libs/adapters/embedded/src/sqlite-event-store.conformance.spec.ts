import { eventStoreConformance } from '@tracking/testing';
import { embeddedSubject } from '../test/embedded-subject.ts';

eventStoreConformance(
  'SQLite',
  embeddedSubject(({ eventStore }) => eventStore),
);

// Live readers fall out of so short a memory all the time, and go back and forth between it and the file.
eventStoreConformance(
  'SQLite with a short memory',
  embeddedSubject(({ eventStore }) => eventStore, { live: { items: 3 }, readerThreads: 1 }),
);
