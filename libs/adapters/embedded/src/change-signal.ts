/**
 * Wakes all who wait for a change, as a condition variable does (`WakeUp` has one waiter). Take `changed` before looking
 * and await it when there was nothing: then a change in between is not missed.
 */
export class ChangeSignal {
  private resolve!: () => void;
  /** Resolves at the next `notify`. */
  changed!: Promise<void>;

  constructor() {
    this.arm();
  }

  notify(): void {
    this.resolve();
    this.arm();
  }

  private arm(): void {
    this.changed = new Promise((resolve) => (this.resolve = resolve));
  }
}
