import { DomainError } from '@tracking/contracts';
import type { ErrorBody, Warning } from '@tracking/contracts';
import { JSON_LIMIT, MIB, sizeOf } from '@tracking/http';
import { type Position, isKnownUndone } from '@tracking/ports';
import { commandIdOfItem } from '@tracking/shipments';
import type { CommandContext } from '@tracking/shipments';
import { ThreadSlices, carryOut } from './carry-out.ts';
import { refuseTooLarge } from './items.ts';

/** Characters of what is answered; what would come on top is not begun. */
const MAX_ANSWER = 32 * MIB;

/** What became of an item. */
export interface CarriedOut<R extends object> {
  readonly status: number;
  /** What the single call answers, but for the warnings. */
  readonly resource: R;
  readonly warnings: readonly Warning[];
  readonly position: Position;
  /** Warnings that can be told once all items are carried out: few, for they do not count for how much is answered. */
  readonly later?: () => Promise<readonly Warning[]>;
}

/** How an item is answered that was not carried out. */
export type ItemRefusal = Pick<ErrorBody, 'error'> & { readonly status: number };

/** An item while the request is carried out. */
interface Item<T, R extends object> {
  readonly index: number;
  input?: T;
  error?: unknown;
  refusal?: ItemRefusal;
  done?: Omit<CarriedOut<R>, 'resource'> & { readonly text: string };
}

/**
 * A request of many items, each of which is carried out and answered as the single call would be. It is not atomic: one that
 * is refused leaves the others as they are.
 */
export class BulkRequest<T, R extends object> {
  private readonly items: readonly Item<T, R>[];
  private characters = 0;

  constructor(
    private readonly inputs: readonly unknown[],
    private readonly command: CommandContext,
    /** Under which an item's answer holds what was written. */
    private readonly name: string,
  ) {
    this.items = inputs.map((_, index) => ({ index }));
  }

  /** Reads each item; one that is faulty is not carried out. Lets others have their turn. */
  async read(read: (input: unknown) => T, bytes: number): Promise<readonly T[]> {
    const slices = new ThreadSlices();
    for (const item of this.items) {
      await slices.next();
      attempt(item, () => {
        const input = this.inputs[item.index];
        // What is no larger all together need not be measured.
        if (bytes > JSON_LIMIT) refuseTooLarge(input);
        item.input = read(input);
      });
    }
    return this.sound.flatMap(({ input }) => (input === undefined ? [] : [input]));
  }

  /** Looks at what was read once more; an item for which it throws is not carried out. */
  check(look: (input: T) => void): void {
    for (const item of this.sound) attempt(item, () => item.input !== undefined && look(item.input));
  }

  /** Carries out what was read, each item under a command of its own. */
  async carryOut(
    groupOf: (input: T) => string | undefined,
    work: (input: T, command: CommandContext) => Promise<CarriedOut<R>>,
  ): Promise<void> {
    const group = ({ input }: Item<T, R>) => (input === undefined ? undefined : groupOf(input));
    await carryOut(this.sound, group, async (item) => {
      const { index, input } = item;
      if (input === undefined) return;
      try {
        this.refuseTooMuch();
        const { resource, ...done } = await work(input, {
          ...this.command,
          id: commandIdOfItem(this.command.id, index),
        });
        const text = JSON.stringify(resource);
        this.characters += text.length + JSON.stringify(done.warnings).length;
        item.done = { ...done, text };
      } catch (error) {
        item.error = error;
      }
    });
  }

  /** The last place in the log that was written; undefined where nothing was. */
  get position(): Position | undefined {
    const positions = this.items.flatMap(({ done }) => (done === undefined ? [] : [done.position]));
    return positions.reduce<Position | undefined>(
      (last, each) => (last === undefined || each > last ? each : last),
      undefined,
    );
  }

  /**
   * Says if all or some of the items failed on our side: then a repeat may succeed. The error is certain that
   * nothing was done only if those of all items are.
   */
  failure(describe: (error: unknown) => ItemRefusal): {
    readonly isOfAll: boolean;
    readonly isOfSome: boolean;
    readonly error: unknown;
  } {
    for (const item of this.items) if (item.error !== undefined) item.refusal = describe(item.error);
    const failed = this.items.filter(({ refusal }) => refusal !== undefined && refusal.status >= 500);
    const { error } = failed.find((item) => !isKnownUndone(item.error)) ?? failed[0] ?? {};
    return { isOfAll: failed.length === this.items.length, isOfSome: failed.length > 0, error };
  }

  /** Whether there are warnings that can be told only now. */
  get looksForOthers(): boolean {
    return this.items.some(({ done }) => done?.later !== undefined);
  }

  /** As JSON; to be asked for after the failures. Lets others have their turn. */
  async answer(ignored: readonly Warning[]): Promise<string> {
    await carryOut(this.items, alone, async (item) => {
      const { done } = item;
      if (done?.later) item.done = { ...done, warnings: [...done.warnings, ...(await done.later())] };
    });
    const slices = new ThreadSlices();
    const parts: string[] = [];
    for (const { index, done, refusal } of this.items) {
      await slices.next();
      if (done === undefined) {
        parts.push(JSON.stringify({ index, ...refusal }));
      } else {
        const resource = `${done.text.slice(0, -1)},"warnings":${JSON.stringify(done.warnings)}}`;
        parts.push(`{"index":${index},"status":${done.status},"${this.name}":${resource}}`);
      }
    }
    return `{"data":[${parts.join(',')}],"warnings":${JSON.stringify(ignored)}}`;
  }

  /** For the log. */
  get counts(): Readonly<Record<string, string>> {
    const refused = this.items.filter(({ error }) => error !== undefined).length;
    return { items: String(this.items.length), items_refused: String(refused) };
  }

  private get sound(): readonly Item<T, R>[] {
    return this.items.filter(({ error }) => error === undefined);
  }

  private refuseTooMuch(): void {
    if (this.characters <= MAX_ANSWER) return;
    const message = `The answers to other items are larger than ${sizeOf(MAX_ANSWER)}: send this one in another request.`;
    throw new DomainError('body_too_large', message);
  }
}

function attempt(item: { error?: unknown }, act: () => unknown): void {
  try {
    act();
  } catch (error) {
    item.error = error;
  }
}

const alone = () => undefined;
