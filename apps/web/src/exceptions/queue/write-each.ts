import { failureOf } from '../../app/failures.ts';

export type Outcome = 'waiting' | 'done' | { readonly failed: string };
export type Outcomes = ReadonlyMap<string, Outcome>;

/** Side by side at most: more would only wait in the browser. */
const AT_ONCE = 4;

export interface Each {
  readonly ids: readonly string[];
  readonly write: (id: string) => Promise<unknown>;
  readonly onProgress: (outcomes: Outcomes) => void;
  /** Nothing more is begun once it is aborted. */
  readonly signal: AbortSignal;
}

/** One write for each; one that fails leaves the others as they are. */
export async function writeEach({ ids, write, onProgress, signal }: Each): Promise<Outcomes> {
  const outcomes = new Map<string, Outcome>(ids.map((id) => [id, 'waiting']));
  const left = [...outcomes.keys()];
  const told = (id: string, outcome: Outcome) => {
    outcomes.set(id, outcome);
    onProgress(new Map(outcomes));
  };
  const worker = async () => {
    for (let id = left.shift(); id !== undefined && !signal.aborted; id = left.shift()) {
      try {
        await write(id);
        told(id, 'done');
      } catch (error) {
        told(id, { failed: failureOf(error).message });
      }
    }
  };
  onProgress(new Map(outcomes));
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return outcomes;
}

/** How many ended, and which failed. */
export function tally(outcomes: Outcomes): { readonly ended: number; readonly failed: readonly [string, string][] } {
  const all = [...outcomes];
  return {
    ended: all.filter(([, outcome]) => outcome !== 'waiting').length,
    failed: all.flatMap(([id, outcome]) => (typeof outcome === 'object' ? [[id, outcome.failed]] : [])),
  };
}
