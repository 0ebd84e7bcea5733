import { declareEventStoreTests } from '@tracking/testing';
import { createEmbeddedAdapterForTest } from '../test/embedded-subject.ts';

declareEventStoreTests(
  'SQLite',
  createEmbeddedAdapterForTest(({ eventStore }) => eventStore),
);

// With such a short tail, live readers constantly switch between memory and the file.
declareEventStoreTests(
  'SQLite with a short memory',
  createEmbeddedAdapterForTest(({ eventStore }) => eventStore, { live: { items: 3 }, readerThreads: 1 }),
);
