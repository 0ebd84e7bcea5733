/**
 * An engine that a conformance suite puts to the test. The suite opens it once, works under names of its own, so that it
 * need not be empty, and closes it at the end.
 */
export interface AdapterSubject<P> {
  /** How long what becomes true in its own time may take on this engine, in milliseconds; 5,000 by default. */
  readonly deadlineMs?: number;
  open(): Promise<P>;
  /** Closes what was opened last, and opens the same data again. */
  reopen(): Promise<P>;
  /** Ends it as `kill -9` does, nothing closed or flushed, and opens what is left. Absent where the subject cannot. */
  crash?(): Promise<P>;
  /** The port on the same data as another process has it. Absent where there can only be one process. */
  another?(): Promise<P>;
  /** Closes everything and removes the data. */
  close(): Promise<void>;
}

/**
 * A test of what not every subject can do: where it cannot, the test is reported as skipped, with the reason. Takes what `it`
 * takes.
 */
export function itWhere(able: boolean, otherwise: string) {
  return (title: string, test: () => Promise<void>, timeoutMs?: number): void => {
    if (able) it(title, test, timeoutMs);
    else it.skip(`${title} [not tested: ${otherwise}]`, test);
  };
}

export const NO_CRASH = 'this subject cannot crash';
export const ONE_PROCESS = 'one process has this engine to itself';

/** True in `npm run soak`, which runs every suite in its long form. `npm test` and CI run the short forms. */
export const IN_SOAK = process.env['SOAK'] === 'true';

/** A test that only `npm run soak` runs, since shorter ones cover what it repeats. Elsewhere it is reported as skipped. */
export const itInSoak = itWhere(IN_SOAK, 'npm run soak runs it');

/**
 * How often a property is tried: `all` in `npm run soak` and with `PROPERTY_ROUNDS=all`, otherwise `few`, a fifth of that by
 * default. A number in `PROPERTY_ROUNDS` multiplies `all`.
 */
export function rounds(all: number, few: number = all / 5): number {
  const asked = process.env['PROPERTY_ROUNDS'];
  if (asked === 'all' || (asked === undefined && IN_SOAK)) return all;
  return Math.ceil(asked === undefined ? few : all * Number(asked));
}

/** Options of a fast-check property: its rounds, and the seed in `PROPERTY_SEED` where it is set. */
export function propertyRun(all: number, few?: number): { readonly numRuns: number; readonly seed?: number } {
  const seed = process.env['PROPERTY_SEED'];
  return { numRuns: rounds(all, few), ...(seed !== undefined && { seed: Number(seed) }) };
}

/** Operations whose requests and answers pass as JSON, as they do between processes; undefined stays what it is. */
export function throughJson<T extends object>(operations: T): T {
  const pass = (value: unknown): unknown => (value === undefined ? undefined : JSON.parse(JSON.stringify(value)));
  return new Proxy(operations, {
    get(target, name) {
      const member = Reflect.get(target, name) as unknown;
      if (typeof member === 'function') {
        return async (request?: unknown) => pass(await (member.call(target, pass(request)) as Promise<unknown>));
      }
      return typeof member === 'object' && member !== null ? throughJson(member) : member;
    },
  });
}
