import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const repositoryRoot = fileURLToPath(new URL('../../..', import.meta.url));

interface DemoServer {
  readonly url: string;
  /** Runs the command line against the demo's server. Returns its output. */
  cli(...args: string[]): Promise<string>;
  stop(): Promise<void>;
}

/** The demo's server with its own data folder. Receivers on loopback are allowed. */
export async function startDemoServer(dataDir: string, inherited: Record<string, string>): Promise<DemoServer> {
  const env = { ...inherited, DATA_DIR: dataDir };
  const child = spawn(process.execPath, [`${repositoryRoot}apps/standalone/dist/main.js`], {
    env: {
      ...env,
      PORT: '0',
      MANAGEMENT_PORT: '0',
      WEBHOOKS_ALLOWED_CIDRS: '127.0.0.0/8',
      WEBHOOKS_ALLOW_HTTP: 'true',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  const url = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      if (line.startsWith('{') && line.includes('"msg":"listening"'))
        resolve((JSON.parse(line) as { url: string }).url);
    });
    void ended.then(() => reject(new Error('the demo server ended before it was ready')));
  });
  return {
    url,
    cli: async (...args) => {
      const { stdout } = await promisify(execFile)(
        process.execPath,
        [`${repositoryRoot}apps/cli/dist/main.js`, ...args],
        {
          env,
        },
      );
      return stdout.trim();
    },
    stop: async () => {
      child.kill('SIGTERM');
      await ended;
    },
  };
}
