// Loads the hooks that compile TypeScript.
import '../../../tools/jest-runtime.mjs';

export default async function setup() {
  const { SharedSystems } = await import('./shared-systems.ts');
  globalThis.sharedSystems = await SharedSystems.listen();
}
