import type { DocumentStore, EventStore, MessageBroker } from '@tracking/ports';

interface Engines {
  readonly eventStore: EventStore;
  readonly documentStore: DocumentStore;
  readonly broker: MessageBroker;
}

const STEPS: ReadonlySet<string> = new Set([
  ...['publish', 'insert', 'replace', 'upsert', 'delete', 'writeMany', 'claim'],
]);

/**
 * A process that can die in a test, as by kill -9: from one instant on none of its calls to an engine has an effect or an
 * answer. The call under way then has had its effect or not, as `before` says.
 */
export class MortalProcess {
  dead = false;
  /** Calls so far that change something outside. */
  private steps = 0;

  /**
   * @param dieAt the number of the call, from 1, at which it dies
   * @param before whether it dies before that call has its effect, or after it but before the answer
   */
  constructor(
    private readonly dieAt = Infinity,
    private readonly before = true,
  ) {}

  engines({ eventStore, documentStore, broker }: Engines): Engines {
    return {
      eventStore: this.wrap(eventStore, { catchUp: (options) => this.batches(eventStore.catchUp(options)) }),
      documentStore: this.wrap(documentStore, {
        collection: async (spec) => this.wrap(await documentStore.collection(spec)),
      }),
      broker: this.wrap(broker),
    };
  }

  /** @param steps names of its methods that change something outside */
  wrap<T extends object>(target: T, instead: Partial<T> = {}, steps = STEPS): T {
    return new Proxy(target, {
      get: (of, name: string & keyof T) => {
        if (instead[name] !== undefined) return instead[name];
        const method = of[name];
        if (typeof method !== 'function') return method;
        return (...args: unknown[]) =>
          this.call(steps.has(name), () => (method as (...all: unknown[]) => Promise<unknown>).apply(of, args));
      },
    });
  }

  private async call<R>(isStep: boolean, action: () => Promise<R>): Promise<R> {
    if (this.dead) return never();
    if (isStep) this.steps += 1;
    const isLast = isStep && this.steps === this.dieAt;
    if (isLast && this.before) this.dead = true;
    if (this.dead) return never();
    const answer = await action();
    if (isLast) this.dead = true;
    return this.dead ? never() : answer;
  }

  private async *batches<B>(batches: AsyncIterable<B>): AsyncGenerator<B> {
    for await (const batch of batches) {
      if (this.dead) await never();
      yield batch;
    }
    if (this.dead) await never();
  }
}

function never<T>(): Promise<T> {
  return new Promise(() => undefined);
}
