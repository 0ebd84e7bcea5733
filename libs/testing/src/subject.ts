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
