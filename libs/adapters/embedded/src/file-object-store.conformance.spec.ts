import { testObjectStore } from '@tracking/testing';
import { createFileObjectSubject } from '../test/file-object-subject.ts';

testObjectStore('files', createFileObjectSubject());
