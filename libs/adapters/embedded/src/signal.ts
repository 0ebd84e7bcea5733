/** Tells those who look that something changed: they take `changed` before they look, and await it when there was nothing. */
export class Signal {
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
