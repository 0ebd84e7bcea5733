export * from './receiver.ts';
