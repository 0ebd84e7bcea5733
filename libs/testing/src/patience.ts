import { env } from 'node:process';

/**
 * How many times longer than usual tests wait for what becomes true in its own time: `TEST_PATIENCE`, 1 by default. An
 * EventStoreDB node takes 2 s to become the leader on a quiet machine, and up to 50 s on a busy one.
 */
const PATIENCE = Number(env['TEST_PATIENCE'] ?? 1);

/** A deadline of a test, in milliseconds, as long as this machine and its engines need it. */
export function patient(ms: number): number {
  return ms * PATIENCE;
}
