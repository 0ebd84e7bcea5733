import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { jest } from '@jest/globals';
import { createAbsentEngineSettings, eventually, findFreePort } from '@tracking/testing';

jest.setTimeout(60_000);

const apps = fileURLToPath(new URL('../../../apps', import.meta.url));
const THROWING = encodeURIComponent("process.on('SIGUSR2', () => { throw new Error('nobody catches it') })");

it.each(['gateway', 'shipments', 'projections', 'webhooks', 'setup'])(
  '%s logs an uncaught error once, stops in order and exits with 1',
  async (app) => {
    const [nobody, port, managementPort] = [await findFreePort(), await findFreePort(), await findFreePort()];
    const child = spawn(
      process.execPath,
      [`--import=data:text/javascript,${THROWING}`, `${apps}/${app}/dist/main.js`],
      {
        env: { ...createAbsentEngineSettings(nobody), PORT: String(port), MANAGEMENT_PORT: String(managementPort) },
      },
    );
    const ended = once(child, 'close');
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += String(chunk)));
    try {
      // The first line logged is about the engine that the service waits for.
      await eventually(() => expect(output).toContain('}\n'), { deadlineMs: 30_000 });
      child.kill('SIGUSR2');
      expect([await ended, output]).toEqual([[1, null], expect.any(String)]);
    } finally {
      child.kill('SIGKILL');
    }
    const lines = output.trim().split('\n');
    const errors = lines.map((line) => JSON.parse(line)).filter(({ level }) => level === 'error');
    expect(errors).toEqual([
      expect.objectContaining({ service: app, error: expect.stringMatching(/^Error: nobody catches it\n +at /) }),
    ]);
  },
);
