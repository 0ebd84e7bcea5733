import { pauseFor } from '@tracking/resilience';

/** Waits longer than a consumer session, whose duration the broker measures with its own clock. */
export function waitPastConsumerSession(sessionMs: number): Promise<void> {
  return pauseFor(sessionMs + 1_000);
}
