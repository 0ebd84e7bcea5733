import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { startStandaloneSystem, type StartedSystem } from './subject.ts';

/** Settings that the journeys require. */
export const FAST_WEBHOOK_RETRY_SETTINGS_FOR_TEST = {
  WEBHOOKS_RETRY_FIRST: '100ms',
  WEBHOOKS_RETRY_FACTOR: '2',
  WEBHOOKS_RETRY_CAP: '1s',
  WEBHOOKS_RETRY_WINDOW: '3s',
  WEBHOOKS_FAILING_AFTER: '1s',
};

/**
 * Standalone server in Jest's parent process that suites share. It starts when a suite first requests its address, so
 * that a run of one suite starts only what the suite needs.
 */
export class SharedStandaloneServerForTests {
  private starting: Promise<StartedSystem> | undefined;
  private readonly server: Server;

  private constructor() {
    this.server = createServer((_request, response) => {
      this.starting ??= startStandaloneSystem(FAST_WEBHOOK_RETRY_SETTINGS_FOR_TEST);
      this.starting.then(
        ({ address }) => response.end(JSON.stringify(address)),
        (error: unknown) => response.writeHead(500).end(String(error)),
      );
    });
  }

  /** Listens on a free port and sets `E2E_STANDALONE`, which Jest's workers inherit. */
  static async listen(): Promise<SharedStandaloneServerForTests> {
    const shared = new SharedStandaloneServerForTests();
    await new Promise<void>((resolve) => shared.server.listen(0, '127.0.0.1', resolve));
    process.env['E2E_STANDALONE'] = `http://127.0.0.1:${(shared.server.address() as AddressInfo).port}`;
    return shared;
  }

  /** @throws Error if the server ended unexpectedly */
  async stopSharedServer(): Promise<void> {
    this.server.close();
    this.server.closeAllConnections();
    const subject = await this.starting?.catch(() => undefined);
    const deaths = [...(subject?.deaths ?? [])];
    await subject?.stop();
    if (deaths.length > 0) throw new Error(`the shared standalone server ended during the run: ${deaths.join(', ')}`);
  }
}
