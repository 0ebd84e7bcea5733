import { testEventStore } from '@tracking/testing';
import { createEmbeddedSubject } from '../test/embedded-subject.ts';

testEventStore(
  'SQLite',
  createEmbeddedSubject(({ eventStore }) => eventStore),
);

// With such a short tail, live readers constantly switch between memory and the file.
testEventStore(
  'SQLite with a short memory',
  createEmbeddedSubject(({ eventStore }) => eventStore, { live: { items: 3 }, readerThreads: 1 }),
);
