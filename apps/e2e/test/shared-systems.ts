import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { takeTime } from '@tracking/testing';
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

/** How long unused services go on, so that the next suite finds them. */
const LINGER_MS = 10_000;

/**
 * The systems that suites share: one standalone server, and one distributed system of two replicas per service. Runs in
 * Jest's parent process. A suite begins to use a system by `POST /NAME`, which starts it where it does not run and answers
 * its address, and ends by `DELETE /NAME`.
 */
export class SharedSystems {
  private readonly started = new Map<SystemName, Promise<OwnSubject>>();
  private readonly server: Server;
  private readonly deaths: string[] = [];
  private users = 0;
  private stopping: Promise<void> = Promise.resolve();
  /** How often the services were taken into use. */
  private uses = 0;

  private constructor() {
    this.server = createServer((request, response) => {
      const name = request.url?.slice(1) as SystemName;
      const answer = request.method === 'POST' ? this.use(name) : this.release(name);
      answer.then(
        (address) => response.end(JSON.stringify(address ?? {})),
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
    await this.stopping;
    await Promise.all([...this.started.keys()].map((name) => this.stopSystem(name)));
    if (this.deaths.length > 0) throw new Error(`ended during the run: ${this.deaths.join(', ')}`);
  }

  private async use(name: SystemName): Promise<SubjectAddress> {
    if (name === 'services') {
      this.users += 1;
      this.uses += 1;
    }
    let starting = this.started.get(name);
    if (starting === undefined) {
      starting = START[name](SETTINGS);
      this.started.set(name, starting);
    }
    return (await starting).address;
  }

  private async release(name: SystemName): Promise<undefined> {
    if (name !== 'services') return;
    this.users -= 1;
    void this.stopUnused(name, this.uses);
  }

  private async stopUnused(name: SystemName, uses: number): Promise<void> {
    await takeTime(LINGER_MS);
    if (this.users === 0 && this.uses === uses) this.stopping = this.stopSystem(name);
  }

  private async stopSystem(name: SystemName): Promise<void> {
    const starting = this.started.get(name);
    this.started.delete(name);
    const subject = await starting?.catch(() => undefined);
    this.deaths.push(...(subject?.deaths ?? []));
    await subject?.stop().catch((error: unknown) => this.deaths.push(String(error)));
  }
}
