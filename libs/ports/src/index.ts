export * from './document-store.ts';
export * from './event-store.ts';
export * from './coordination.ts';
export * from './message-broker.ts';
export * from './object-store.ts';
export * from './outbound-http.ts';
export * from './engine.ts';
