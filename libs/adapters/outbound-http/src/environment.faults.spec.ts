import type { OutboundOutcome } from '@tracking/ports';
import {
  createCertificateAuthority,
  issueCertificate,
  hostileReceiverBehaviours,
  startReceiver,
  type HttpTestReceiver,
} from '@tracking/testing';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const script = fileURLToPath(new URL('../test/post-once.ts', import.meta.url));
const node = ['--experimental-transform-types', '--no-warnings', '--conditions=@tracking/source'];

async function postInProcess(url: string, env: Record<string, string>): Promise<OutboundOutcome> {
  const { stdout } = await promisify(execFile)(process.execPath, [...node, script, url], { env });
  return JSON.parse(stdout) as OutboundOutcome;
}

/** A process on a busy machine may take seconds to start. */
const processMs = 30_000;

describe('effects of environment variables', () => {
  const authority = createCertificateAuthority();
  let https: HttpTestReceiver;
  let folder: string;

  beforeAll(async () => {
    https = await startReceiver(hostileReceiverBehaviours.answers(), { tls: issueCertificate({ issuer: authority }) });
    folder = await mkdtemp(join(tmpdir(), 'outbound-'));
    await writeFile(join(folder, 'authority.pem'), authority.cert);
  });
  afterAll(async () => {
    await https.close();
    await rm(folder, { recursive: true });
  });

  test(
    'NODE_EXTRA_CA_CERTS adds to the trusted authorities',
    async () => {
      expect(await postInProcess(https.origin, {})).toMatchObject({ kind: 'failure', code: 'tls_failed' });
      const env = { NODE_EXTRA_CA_CERTS: join(folder, 'authority.pem') };
      expect(await postInProcess(https.origin, env)).toMatchObject({ kind: 'response', statusCode: 200 });
    },
    processMs,
  );

  test(
    'NODE_TLS_REJECT_UNAUTHORIZED does not turn certificate checks off',
    async () => {
      const env = { NODE_TLS_REJECT_UNAUTHORIZED: '0' };
      expect(await postInProcess(https.origin, env)).toMatchObject({ kind: 'failure', code: 'tls_failed' });
    },
    processMs,
  );

  test(
    'no proxy setting applies',
    async () => {
      const [proxy, target] = [
        await startReceiver(hostileReceiverBehaviours.answers(599)),
        await startReceiver(hostileReceiverBehaviours.answers(200)),
      ];
      try {
        const names = ['http_proxy', 'HTTP_PROXY', 'https_proxy', 'HTTPS_PROXY', 'all_proxy', 'ALL_PROXY'];
        const env = { ...Object.fromEntries(names.map((name) => [name, proxy.origin])), NODE_USE_ENV_PROXY: '1' };
        expect(await postInProcess(target.origin, env)).toMatchObject({ kind: 'response', statusCode: 200 });
        expect(proxy.connections).toBe(0);
      } finally {
        await Promise.all([proxy.close(), target.close()]);
      }
    },
    processMs,
  );
});
