export * from './engines.ts';
export { runService, Service, type ServiceSettings, serviceSettings } from './service.ts';
