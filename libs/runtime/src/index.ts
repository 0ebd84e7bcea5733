export * from './config.ts';
export * from './derived-key.ts';
export * from './health.ts';
export * from './logging.ts';
export * from './management-server.ts';
export * from './metrics.ts';
export * from './shutdown.ts';
export * from './webhook-config.ts';
