import { spawnSync } from 'node:child_process';
import { existsSync, realpathSync } from 'node:fs';

/**
 * Finds the engines of distributed tests: in `ENGINES_DIR`, otherwise beside the checkout.
 *
 * @returns {{folder: string, missing?: string}} the folder; empty if this machine cannot run the engines, with the
 * reason
 */
export function findEngines() {
  const { ENGINES_DIR = '../shared/engines' } = process.env;
  if (!existsSync(ENGINES_DIR)) return { folder: '', missing: `no engines in ${ENGINES_DIR}` };
  const hasJava = spawnSync('java', ['-version']).status === 0;
  return hasJava ? { folder: realpathSync(ENGINES_DIR) } : { folder: '', missing: 'Java is not installed' };
}
