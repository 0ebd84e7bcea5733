export * from './setting-types.ts';
export * from './config.ts';
export * from './shared-config.ts';
export * from './management-server.ts';
export * from './logging.ts';
export * from './settings.ts';
export * from './shutdown.ts';
export * from './connection-guard.ts';
