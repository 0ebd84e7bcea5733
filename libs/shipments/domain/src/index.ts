export type * from './commands.ts';
export type * from './events.ts';
