import { type Environment, api } from '../../session/api.ts';
import { ownerOf } from '../../session/session.ts';
import { ImportRun } from './import-run.ts';
import { type ImportRecord, importStore } from './import-store.ts';

/** Imports of this tab: they go on while other pages are looked at. */
const runs = new Map<string, ImportRun>();

/** The run of an import in this tab, where there is one. */
export function runOf(id: string): ImportRun | undefined {
  return runs.get(id);
}

/** Begins it, or goes on with it. One tab at a time does. */
export function startRun(record: ImportRecord, environment: Environment): ImportRun {
  const client = api(environment);
  const sender = async () => ownerOf(await client.session.get());
  const run = new ImportRun(record, { api: client, sender, store: importStore, wait });
  runs.set(record.id, run);
  void alone(`import-${record.id}`, run);
  return run;
}

/** Waits while another tab is at it. Pages without https have no locks: there the keys of requests suffice. */
async function alone(name: string, run: ImportRun): Promise<void> {
  const locks = (navigator as { locks?: LockManager }).locks;
  if (locks === undefined) return run.run();
  const isRun = await locks.request(name, { ifAvailable: true }, async (lock) => {
    if (lock !== null) await run.run();
    return lock !== null;
  });
  if (isRun) return;
  run.waitForOtherTab();
  // Stopped while it waits, it does not begin.
  await locks.request(name, { signal: run.signal }, () => run.run()).catch(() => undefined);
}

function wait(seconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, seconds * 1_000);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
