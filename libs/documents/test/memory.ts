import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** What is held beyond what was at first, in bytes: buffers, and text on the heap. */
export class Memory {
  most = 0;
  private readonly collect: () => void;
  private readonly before: number;

  constructor() {
    setFlagsFromString('--expose-gc');
    this.collect = runInNewContext('gc') as () => void;
    this.before = this.held();
  }

  look(): void {
    this.most = Math.max(this.most, this.held() - this.before);
  }

  private held(): number {
    // Buffers are freed beside the program; the second time waits for what the first began.
    this.collect();
    this.collect();
    const { arrayBuffers, heapUsed } = process.memoryUsage();
    return arrayBuffers + heapUsed;
  }
}
