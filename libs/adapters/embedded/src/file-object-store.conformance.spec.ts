import { testObjectStore } from '@tracking/testing';
import { fileObjectSubject } from '../test/file-object-subject.ts';

testObjectStore('files', fileObjectSubject());
