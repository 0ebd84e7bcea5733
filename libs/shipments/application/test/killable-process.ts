import type { Collection, Document, DocumentStore, EventStore, MessageBroker } from '@tracking/ports';

interface EnginesOfKillableProcess {
  readonly eventStore: EventStore;
  readonly documentStore: DocumentStore;
  readonly broker: MessageBroker;
}

const KILLABLE_ENGINE_METHODS: ReadonlySet<string> = new Set<keyof MessageBroker | keyof Collection<Document>>([
  ...(['publishMessages', 'insert', 'replace', 'replaceMany', 'upsert', 'delete', 'writeMany', 'claim'] as const),
]);

/**
 * A process that a test can kill, as with `kill -9`. From that instant on, no call of the process to an engine has an
 * effect or a result. `before` decides whether the current call still has its effect.
 */
export class SimulatedKillableProcess {
  dead = false;
  /** Number of calls so far with an external effect. */
  private steps = 0;

  /**
   * @param dieAt number of the call, from 1, at which the process dies
   * @param before true to die before the effect of that call, false to die after it but before its result
   */
  constructor(
    private readonly dieAt = Infinity,
    private readonly before = true,
  ) {}

  makeEnginesKillable({ eventStore, documentStore, broker }: EnginesOfKillableProcess): EnginesOfKillableProcess {
    return {
      eventStore: this.makeMethodsKillable(eventStore, {
        catchUp: (options) => this.yieldBatchesUntilKilled(eventStore.catchUp(options)),
      }),
      documentStore: this.makeMethodsKillable(documentStore, {
        collection: async (spec) => this.makeMethodsKillable(await documentStore.collection(spec)),
      }),
      broker: this.makeMethodsKillable(broker),
    };
  }

  /** @param steps names of methods with an external effect */
  makeMethodsKillable<T extends object>(target: T, instead: Partial<T> = {}, steps = KILLABLE_ENGINE_METHODS): T {
    return new Proxy(target, {
      get: (of, name: string & keyof T) => {
        if (instead[name] !== undefined) return instead[name];
        const method = of[name];
        if (typeof method !== 'function') return method;
        return (...args: unknown[]) =>
          this.runStepUnlessKilled(steps.has(name), () =>
            (method as (...all: unknown[]) => Promise<unknown>).apply(of, args),
          );
      },
    });
  }

  private async runStepUnlessKilled<R>(isStep: boolean, action: () => Promise<R>): Promise<R> {
    if (this.dead) return createPromiseThatNeverSettles();
    if (isStep) this.steps += 1;
    const isLast = isStep && this.steps === this.dieAt;
    if (isLast && this.before) this.dead = true;
    if (this.dead) return createPromiseThatNeverSettles();
    const answer = await action();
    if (isLast) this.dead = true;
    return this.dead ? createPromiseThatNeverSettles() : answer;
  }

  private async *yieldBatchesUntilKilled<B>(batches: AsyncIterable<B>): AsyncGenerator<B> {
    for await (const batch of batches) {
      if (this.dead) await createPromiseThatNeverSettles();
      yield batch;
    }
    if (this.dead) await createPromiseThatNeverSettles();
  }
}

function createPromiseThatNeverSettles<T>(): Promise<T> {
  return new Promise(() => undefined);
}
