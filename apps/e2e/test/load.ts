import type { Milestone, Shipment } from '@tracking/contracts';
import type { AxiosInstance } from 'axios';
import { waitForSimulatedDelay } from '@tracking/testing';

const MILESTONE_CODES = [
  'gated_in',
  'loaded_on_vessel',
  'vessel_departed',
  'transshipment_arrived',
  'vessel_arrived',
] as const;
const FIRST_MILESTONE_TIME = Date.UTC(2025, 0, 1);

/** Acknowledged state of one shipment. Only one client writes to it, one request at a time. */
export interface AcknowledgedShipmentStateForTest {
  readonly id: string;
  /** All house bills that the shipment had, with the latest last. */
  readonly bills: string[];
  readonly milestones: Set<string>;
}

/** Clients that write steadily to their own shipments and repeat a write until it is acknowledged. */
export class LoadGenerator {
  readonly shipments = new Map<string, AcknowledgedShipmentStateForTest>();
  acknowledged = 0;
  /** Number of temporary failures: refused or broken connections, and 503 responses. */
  refusals = 0;
  /** Temporary failures in a row of one write: the highest number so far. */
  maxFailuresInARow = 0;
  /** Unexpected responses, which no fault of an engine or a replica explains. */
  readonly unexpected: string[] = [];
  private isOver = false;
  private writes = 0;
  private readonly clients: readonly Promise<void>[];

  /**
   * @param apis clients of the gateways; a write is repeated at the next one
   * @param paceMs milliseconds between a response and the client's next write
   */
  constructor(
    private readonly apis: readonly AxiosInstance[],
    clients: number,
    private readonly paceMs: number,
  ) {
    this.clients = Array.from({ length: clients }, (_, number) => this.writeUntilStopped(number));
  }

  /** Resolves when every write is acknowledged. */
  async stopLoad(): Promise<void> {
    this.isOver = true;
    await Promise.all(this.clients);
  }

  private async writeUntilStopped(client: number): Promise<void> {
    for (let turn = 0; !this.isOver; turn += 1) {
      const external_id = `L-${client}-${turn % 6}`;
      const known = this.shipments.get(external_id);
      if (known && turn % 3 === 0) {
        const occurred_at = new Date(FIRST_MILESTONE_TIME + turn * 60_000).toISOString();
        const milestone = { code: MILESTONE_CODES[turn % MILESTONE_CODES.length], occurred_at };
        known.milestones.add(
          (await this.sendUntilAcknowledged<Milestone>(`/v1/shipments/${known.id}/milestones`, milestone)).id,
        );
      } else {
        const house_bill = `HB-${external_id}-${turn}`;
        const { id } = await this.sendUntilAcknowledged<Shipment>('/v1/shipments', {
          external_id,
          house_bill,
          mode: 'ocean',
        });
        if (known) known.bills.push(house_bill);
        else this.shipments.set(external_id, { id, bills: [house_bill], milestones: new Set() });
      }
      await waitForSimulatedDelay(this.paceMs);
    }
  }

  private async sendUntilAcknowledged<T>(path: string, body: object): Promise<T> {
    const first = (this.writes += 1);
    for (let failures = 0; ; failures += 1) {
      this.maxFailuresInARow = Math.max(this.maxFailuresInARow, failures);
      const api = this.apis[(first + failures) % this.apis.length];
      if (api === undefined) throw new Error('the load generator has no clients');
      const answer = await api.post<T>(path, body).catch((error: unknown) => error as Error);
      if ('status' in answer && 'data' in answer) {
        if (answer.status === 200 || answer.status === 201) {
          this.acknowledged += 1;
          return answer.data;
        }
        if (answer.status !== 503) this.unexpected.push(`${path}: ${answer.status} ${JSON.stringify(answer.data)}`);
      }
      this.refusals += 1;
      await waitForSimulatedDelay(this.paceMs);
    }
  }
}
