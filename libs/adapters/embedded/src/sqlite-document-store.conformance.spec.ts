import { declareDocumentStoreTests } from '@tracking/testing';
import { createEmbeddedAdapterForTest } from '../test/embedded-subject.ts';

declareDocumentStoreTests(
  'SQLite',
  createEmbeddedAdapterForTest(({ documentStore }) => documentStore),
);
