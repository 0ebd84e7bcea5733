export * from './receiver.ts';
export * from './signature.ts';
