// Registers the hooks that compile TypeScript.
import '../../../tools/jest-runtime.mjs';

export default async function setup() {
  const { SharedStandaloneServerForTests } = await import('./shared-standalone.ts');
  globalThis.sharedStandalone = await SharedStandaloneServerForTests.listen();
}
