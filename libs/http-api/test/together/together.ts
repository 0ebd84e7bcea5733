import { readdirSync } from 'node:fs';
import { createRequire } from 'node:module';

const PARTS = 4;
const require = createRequire(import.meta.url);

/** The suites of the folder above, every fourth of them, as one: to load the API costs each more than most of its tests. */
export function together(part: number): void {
  const suites = readdirSync(new URL('..', import.meta.url)).filter((name) => name.endsWith('.int.spec.ts'));
  suites.sort().forEach((suite, at) => {
    // Within it, so that what comes before and after its tests comes before and after no other's.
    if (at % PARTS === part - 1) describe(suite, () => void require(`../${suite}`));
  });
}
