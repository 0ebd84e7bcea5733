import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { startServices, startStandalone, type OwnSubject, type SubjectAddress } from './subject.ts';

/** Settings of the shared systems. */
export const SETTINGS = {
  WEBHOOKS_RETRY_FIRST: '100ms',
  WEBHOOKS_RETRY_FACTOR: '2',
  WEBHOOKS_RETRY_CAP: '1s',
  WEBHOOKS_RETRY_WINDOW: '3s',
  WEBHOOKS_FAILING_AFTER: '1s',
};

const START = { standalone: startStandalone, services: startServices };
type SystemName = keyof typeof START;

/**
 * The systems that suites share: one standalone server, and one distributed system of two replicas per service. Runs in
 * Jest's parent process. A system starts when a suite first requests its address, so that a run of one suite starts only
 * what it needs.
 */
export class SharedSystems {
  private readonly started = new Map<SystemName, Promise<OwnSubject>>();
  private readonly server: Server;

  private constructor() {
    this.server = createServer((request, response) => {
      this.address(request.url?.slice(1) as SystemName).then(
        (address) => response.end(JSON.stringify(address)),
        (error: unknown) => response.writeHead(500).end(String(error)),
      );
    });
  }

  /** Listens on a free port and sets `E2E_SYSTEMS`, which Jest's workers inherit. */
  static async listen(): Promise<SharedSystems> {
    const systems = new SharedSystems();
    await new Promise<void>((resolve) => systems.server.listen(0, '127.0.0.1', resolve));
    process.env['E2E_SYSTEMS'] = `http://127.0.0.1:${(systems.server.address() as AddressInfo).port}`;
    return systems;
  }

  /** @throws Error where a process of a shared system ended although nobody stopped it */
  async stop(): Promise<void> {
    this.server.close();
    this.server.closeAllConnections();
    const subjects = (await Promise.allSettled(this.started.values())).flatMap((one) =>
      one.status === 'fulfilled' ? [one.value] : [],
    );
    const deaths = subjects.flatMap((one) => one.deaths);
    await Promise.all(subjects.map((one) => one.stop()));
    if (deaths.length > 0) throw new Error(`ended during the run: ${deaths.join(', ')}`);
  }

  private async address(name: SystemName): Promise<SubjectAddress> {
    let starting = this.started.get(name);
    if (starting === undefined) {
      starting = START[name](SETTINGS);
      this.started.set(name, starting);
    }
    return (await starting).address;
  }
}
