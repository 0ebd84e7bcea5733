import type { ManagedProcess } from '@tracking/testing';

/** A node in a process of its own that can be killed, held and started again on its data. */
export class NodeProcess {
  constructor(
    protected readonly process: ManagedProcess,
    readonly url: string,
  ) {}

  /** Starts it on its data; resolves when it is ready. */
  async run(): Promise<void> {
    await this.process.run();
  }

  /** As a power cut does. */
  kill(): Promise<void> {
    return this.process.kill();
  }

  /** As an operator does: it serves on for a while, then drops its connections. */
  stop(): Promise<void> {
    return this.process.stop();
  }

  /** A hung node: leaves its connections open and answers nothing. */
  pause(): void {
    this.process.hold();
  }

  resume(): void {
    this.process.wake();
  }

  /** Ends it, for good. */
  async remove(): Promise<void> {
    await this.kill();
  }
}
