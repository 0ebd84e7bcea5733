import { pause } from '@tracking/resilience';

/** Waits longer than a session lasts, which the broker measures by its own clock. */
export function waitPastSession(sessionMs: number): Promise<void> {
  return pause(sessionMs + 1_000);
}
