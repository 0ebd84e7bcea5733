export { DataFolderDamaged, DataFolderInUse, DataFolderTooNew } from './data-folder.ts';
export { EmbeddedEngine, type EmbeddedLimits, type EmbeddedOptions } from './embedded-engine.ts';
export { FileObjectStore } from './file-object-store.ts';
export { InProcessLeases } from './in-process-leases.ts';
export { MemoryQuota } from './memory-quota.ts';
