import { objectStoreConformance } from '@tracking/testing';
import { fileObjectSubject } from '../test/file-object-subject.ts';

objectStoreConformance('files', fileObjectSubject());
