export default function teardown() {
  return globalThis.sharedSystems.stop();
}
