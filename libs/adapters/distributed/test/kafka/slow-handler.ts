import { pause } from '@tracking/resilience';

/** As long as a handler needs to outlast a session: the broker measures it by its own clock. */
export function longerThan(sessionMs: number): Promise<void> {
  return pause(sessionMs + 1_000);
}
