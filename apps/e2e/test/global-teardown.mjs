export default function teardown() {
  return globalThis.sharedStandalone.stopSharedServer();
}
