/** Lets a few pieces of work run at once; the others wait for their turn, the first first. */
export class Turns {
  private readonly waiting: (() => void)[] = [];

  constructor(private free: number) {}

  async take<T>(work: () => Promise<T>): Promise<T> {
    if (this.free > 0) this.free -= 1;
    else await new Promise<void>((begin) => this.waiting.push(begin));
    try {
      return await work();
    } finally {
      const next = this.waiting.shift();
      // A turn is handed on, so that nobody who comes now is first.
      if (next === undefined) this.free += 1;
      else next();
    }
  }
}
