export { DataFolderDamagedError, DataFolderInUseError, DataFolderTooNewError } from './data-folder.ts';
export { EmbeddedSqliteEngine } from './embedded-engine.ts';
export { FileObjectStore } from './file-object-store.ts';
export { InProcessLeases } from './in-process-leases.ts';
export { InMemoryRequestQuota } from './memory-quota.ts';
