import { testObjectStoreMemory } from '@tracking/testing';
import { createFileObjectSubject } from '../test/file-object-subject.ts';

testObjectStoreMemory('files', createFileObjectSubject());
