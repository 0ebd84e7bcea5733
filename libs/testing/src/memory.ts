import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Bytes that something still holds beyond those at first: buffers, and the JavaScript heap where that counts too. */
export class Memory {
  most = 0;
  private readonly collect: () => void;
  private readonly before: number;

  constructor(private readonly counts: 'buffers' | 'buffers and heap') {
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
    return this.counts === 'buffers' ? arrayBuffers : arrayBuffers + heapUsed;
  }
}
