import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

const END_TIMEOUT_MS = 20_000;
const START_TIMEOUT_MS = 60_000;

/** The process and its children form one group, so that they can be ended together. */
export function start(program, options, { env = process.env, cwd } = {}) {
  const child = spawn(program, options, { env, cwd, detached: true, stdio: ['pipe', 'pipe', 'inherit'] });
  let printed = '';
  child.stdout.on('data', (chunk) => (printed += chunk));
  const gone = once(child, 'close');
  const end = async () => {
    try {
      process.kill(-child.pid, 'SIGTERM');
    } catch {
      // All of it has ended already.
    }
    await Promise.race([gone, pause(END_TIMEOUT_MS, undefined, { ref: false })]);
  };
  return { child, end, printed: () => printed };
}

/** Waits for a response of any status from the URL. */
export async function waitForResponse(url, { child, printed }) {
  const deadline = Date.now() + START_TIMEOUT_MS;
  while ((await fetch(url).catch(() => undefined)) === undefined) {
    if (child.exitCode !== null || Date.now() > deadline) throw new Error(`no response from ${url}:\n${printed()}`);
    await pause(100);
  }
}

export async function freePorts(count) {
  const servers = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'));
  await Promise.all(servers.map((server) => once(server, 'listening')));
  const ports = servers.map((server) => server.address().port);
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}
