import { testObjectStoreMemory } from '@tracking/testing';
import { fileObjectSubject } from '../test/file-object-subject.ts';

testObjectStoreMemory('files', fileObjectSubject());
