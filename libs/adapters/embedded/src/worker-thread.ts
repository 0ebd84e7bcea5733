import { Worker } from 'node:worker_threads';

/**
 * Starts a thread from a file beside this one: `.js` when built, `.ts` when run from source, where the thread's modules
 * use no more of TypeScript than Node strips, and import other projects for their types only.
 */
export function startThread(name: string, workerData: object): Worker {
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
  return new Worker(new URL(`./${name}.${extension}`, import.meta.url), { workerData });
}
