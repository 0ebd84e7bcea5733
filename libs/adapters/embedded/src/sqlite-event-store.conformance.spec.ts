import { testEventStore } from '@tracking/testing';
import { embeddedSubject } from '../test/embedded-subject.ts';

testEventStore(
  'SQLite',
  embeddedSubject(({ eventStore }) => eventStore),
);

// With such a short tail, live readers constantly switch between memory and the file.
testEventStore(
  'SQLite with a short memory',
  embeddedSubject(({ eventStore }) => eventStore, { live: { items: 3 }, readerThreads: 1 }),
);
