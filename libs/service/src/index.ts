export * from './engine-settings.ts';
export * from './engines.ts';
export { runService } from './run-service.ts';
export { Service, type ServiceSettings, serviceSettings } from './service.ts';
