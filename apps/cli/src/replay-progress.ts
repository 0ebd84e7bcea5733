import { setTimeout as pause } from 'node:timers/promises';
import { type AdministrationClient, isGone } from './administration-client.ts';
import { CliError } from './cli-error.ts';
import type { Invocation } from './invocation.ts';
import type { Column } from './output.ts';

const POLL_MS = 1_000;

/** A replay as the service lists it, as far as it is looked at here. */
export interface ReplaySummary {
  readonly id: string;
  readonly workspace: string;
  readonly environment: string;
  readonly endpoint_id: string;
  readonly action: 'replay' | 'discard';
  readonly status: string;
  readonly matched: number;
  readonly done: number;
  readonly failed: number;
}

export const REPLAY_COLUMNS: readonly Column<ReplaySummary>[] = [
  ['ID', ({ id }) => id],
  ['WORKSPACE', ({ workspace }) => workspace],
  ['ENVIRONMENT', ({ environment }) => environment],
  ['ENDPOINT', ({ endpoint_id }) => endpoint_id],
  ['ACTION', ({ action }) => action],
  ['STATUS', ({ status }) => status],
  ['MATCHED', ({ matched }) => matched],
  ['DONE', ({ done }) => done],
  ['FAILED', ({ failed }) => failed],
];

/**
 * Waits until they have ended, and tells meanwhile how far they are. Who gives up waiting ends none of them.
 * @throws CliError where one was canceled
 */
export async function ended(
  { client, note, signal }: Pick<Invocation, 'client' | 'note' | 'signal'>,
  replays: readonly ReplaySummary[],
): Promise<readonly ReplaySummary[]> {
  let now = replays;
  let told = '';
  for (;;) {
    // Its service may be started anew meanwhile: the jobs go on with it.
    now = await latest(client, now).catch((error: unknown) => {
      if (!isGone(error)) throw error;
      return now;
    });
    const progress = progressOf(now);
    if (progress !== told) note(progress);
    told = progress;
    if (now.every(({ status }) => status !== 'running')) return now;
    await pause(POLL_MS, undefined, { signal });
  }
}

function latest(client: AdministrationClient, replays: readonly ReplaySummary[]): Promise<readonly ReplaySummary[]> {
  return Promise.all(
    replays.map(async (replay) => {
      const { id, workspace, environment, status } = replay;
      return status === 'running' ? client.get<ReplaySummary>(`/replays/${id}`, { workspace, environment }) : replay;
    }),
  );
}

/** Where nothing runs, nobody would end what is waited for. @throws CliError */
export function requireServing({ isServing }: Pick<Invocation, 'isServing'>): void {
  const message = 'nothing runs that would do it: start the service, or leave out --wait';
  if (!isServing) throw new CliError(message, 'unavailable');
}

/** @throws CliError */
export function requireCompleted(replays: readonly ReplaySummary[]): void {
  const canceled = replays.filter(({ status }) => status !== 'completed').length;
  if (canceled > 0) throw new CliError(`${canceled} of ${replays.length} were canceled: see replays resume`);
}

function progressOf(replays: readonly ReplaySummary[]): string {
  const sum = (of: (replay: ReplaySummary) => number) => replays.reduce((total, replay) => total + of(replay), 0);
  const running = replays.filter(({ status }) => status === 'running').length;
  const counts = `${sum(({ done }) => done)} of ${sum(({ matched }) => matched)} found so far are done`;
  return `${counts}, ${sum(({ failed }) => failed)} failed; ${running} of ${replays.length} run`;
}
