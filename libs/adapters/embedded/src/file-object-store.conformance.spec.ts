import { declareObjectStoreTests } from '@tracking/testing';
import { createFileObjectStoreForTest } from '../test/file-object-subject.ts';

declareObjectStoreTests('files', createFileObjectStoreForTest());
