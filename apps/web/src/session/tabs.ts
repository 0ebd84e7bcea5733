/** What tabs of this browser tell each other: they share the session. */
const tabs = new BroadcastChannel('session');

/** Tells the others that somebody signed in or out. */
export function tellTabs(): void {
  tabs.postMessage('changed');
}

/** Calls it when another tab told so. */
export function onOtherTab(listener: () => void): void {
  tabs.addEventListener('message', listener);
}
