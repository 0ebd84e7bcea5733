import { declareObjectStoreMemoryTests } from '@tracking/testing';
import { createFileObjectStoreForTest } from '../test/file-object-subject.ts';

declareObjectStoreMemoryTests('files', createFileObjectStoreForTest());
