/** The last bytes of what passes, in memory of a fixed size. */
export class Tail {
  private readonly ring: Buffer;
  /** How many have passed. */
  total = 0;

  constructor(size: number) {
    this.ring = Buffer.alloc(size);
  }

  take(bytes: Uint8Array): void {
    const { ring } = this;
    const kept = bytes.subarray(Math.max(0, bytes.length - ring.length));
    const at = (this.total + bytes.length - kept.length) % ring.length;
    const fitting = kept.subarray(0, ring.length - at);
    ring.set(fitting, at);
    ring.set(kept.subarray(fitting.length), 0);
    this.total += bytes.length;
  }

  /** Offset of the first byte that is still there. */
  get start(): number {
    return Math.max(0, this.total - this.ring.length);
  }

  /** From there on. */
  bytes(): Buffer {
    const { ring, total } = this;
    if (total <= ring.length) return ring.subarray(0, total);
    const at = total % ring.length;
    return Buffer.concat([ring.subarray(at), ring.subarray(0, at)]);
  }
}
