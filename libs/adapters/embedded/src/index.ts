export { DataFolderDamaged, DataFolderInUse, DataFolderTooNew } from './data-folder.ts';
export { EmbeddedEngine } from './embedded-engine.ts';
export { FileObjectStore } from './file-object-store.ts';
export { InProcessLeases } from './in-process-leases.ts';
export { MemoryQuota } from './memory-quota.ts';
