/**
 * The engine that a conformance suite tests. The suite opens the engine once, uses names of its own, so that the engine
 * need not be empty, and closes it at the end.
 */
export interface TestedAdapter<P> {
  /** Milliseconds that an asynchronous result may take on this engine; 5,000 by default. */
  readonly deadlineMs?: number;
  openTestedAdapter(): Promise<P>;
  /** Closes the engine that was opened last, and opens it again on the same data. */
  closeAndReopenAdapter(): Promise<P>;
  /**
   * Ends the engine like `kill -9`, without closing or flushing, and opens the remaining data. Absent if the subject
   * cannot crash.
   */
  simulateCrash?(): Promise<P>;
  /** Opens the port on the same data like another process. Absent if the engine allows only one process. */
  openSecond?(): Promise<P>;
  /** Closes all opened engines and removes the data. */
  close(): Promise<void>;
}

/**
 * Declares a test of an optional ability, with the parameters of `it`. If the subject lacks the ability, the test is
 * reported as skipped, with the reason.
 */
export function testIfSupported(isSupported: boolean, reason: string) {
  return (title: string, test: () => Promise<void>, timeoutMs?: number): void => {
    if (isSupported) it(title, test, timeoutMs);
    else it.skip(`${title} [not tested: ${reason}]`, test);
  };
}

export const CRASH_UNSUPPORTED_REASON = 'this test subject cannot simulate a crash';
export const SINGLE_PROCESS_SKIP_REASON = 'only one process at a time can use this engine';

/** True in `npm run soak`, which runs every suite in its long form. `npm test` and CI run the short forms. */
export const IS_SOAK_RUN = process.env['SOAK'] === 'true';

/**
 * Declares a test that runs only in `npm run soak`, because shorter tests cover the same behaviour. In other runs, the
 * test is reported as skipped.
 */
export const itInSoak = testIfSupported(IS_SOAK_RUN, 'this test runs only in npm run soak');

/**
 * Returns the number of rounds of a property test: `all` in `npm run soak` and with `PROPERTY_ROUNDS=all`; otherwise
 * `few`, which is a fifth of `all` by default. A number in `PROPERTY_ROUNDS` multiplies `all`.
 */
export function choosePropertyTestRounds(all: number, few: number = all / 5): number {
  const asked = process.env['PROPERTY_ROUNDS'];
  if (asked === 'all' || (asked === undefined && IS_SOAK_RUN)) return all;
  return Math.ceil(asked === undefined ? few : all * Number(asked));
}

/**
 * Returns the options of a fast-check property: its number of rounds, and the seed in `PROPERTY_SEED` if that is set.
 */
export function createPropertyTestOptions(
  all: number,
  few?: number,
): { readonly numRuns: number; readonly seed?: number } {
  const seed = process.env['PROPERTY_SEED'];
  return { numRuns: choosePropertyTestRounds(all, few), ...(seed !== undefined && { seed: Number(seed) }) };
}

/**
 * Returns the operations with requests and responses converted to JSON and back, as between processes; undefined stays
 * undefined.
 */
export function passOperationsThroughJson<T extends object>(operations: T): T {
  const pass = (value: unknown): unknown => (value === undefined ? undefined : JSON.parse(JSON.stringify(value)));
  return new Proxy(operations, {
    get(target, name) {
      const member = Reflect.get(target, name) as unknown;
      if (typeof member === 'function') {
        return async (request?: unknown) => pass(await (member.call(target, pass(request)) as Promise<unknown>));
      }
      return typeof member === 'object' && member !== null ? passOperationsThroughJson(member) : member;
    },
  });
}
