export * from './command-channel.ts';
export * from './document-store.ts';
export * from './event-store.ts';
export * from './lease.ts';
export * from './quota.ts';
export * from './telemetry.ts';
export * from './unavailable.ts';
