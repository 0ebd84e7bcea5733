import files from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';

/**
 * Kills the program at a step of the storage of a document. It is loaded before the program. `?step=stored`: the bytes
 * are complete and durable, but no document references them yet. `?step=destroying`: the document is deleted, but its
 * bytes still exist.
 */
const step = new URL(import.meta.url).searchParams.get('step');
const { rename, rm } = files;
const isObject = (path) => /\/objects\/[a-z2-7]{26}-[a-z2-7]{26}$/.test(String(path));

function die() {
  process.kill(process.pid, 'SIGKILL');
  return new Promise(() => undefined);
}

if (step === 'stored') {
  files.rename = async (from, to) => {
    await rename(from, to);
    if (isObject(to)) await die();
  };
}
if (step === 'destroying') {
  files.rm = async (path, options) => {
    if (isObject(path)) await die();
    await rm(path, options);
  };
}
syncBuiltinESMExports();
