import { objectStoreMemory } from '@tracking/testing';
import { fileObjectSubject } from '../test/file-object-subject.ts';

objectStoreMemory('files', fileObjectSubject());
