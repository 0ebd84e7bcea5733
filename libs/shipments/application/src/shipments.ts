import type { EventStore, Logger, Metrics } from '@tracking/ports';
import type {
  CancelShipment,
  CancellationAnswer,
  DecideContext,
  RecordMilestone,
  RecordMilestoneAnswer,
  ReopenShipment,
  AnswerOf,
  CommandOf,
  CommandType,
  UpsertShipment,
  UpsertShipmentAnswer,
} from '@tracking/shipments-domain';
import { parseShipmentId, streamOf } from '@tracking/shipments-domain';
import type { Written } from './answers.ts';
import { shipmentIdFor } from './ids.ts';
import { CommandMetrics } from './metrics.ts';
import { type CacheLimits, ShipmentCache } from './shipment-cache.ts';
import { isInScope, noSuchShipment, readShipment } from './shipment-stream.ts';
import { ShipmentWriter, type WriterLimits } from './shipment-writer.ts';
import type { FoundShipment, GetShipment, ShipmentsService } from './shipments-service.ts';

export interface ShipmentsLimits extends WriterLimits {
  /** Folded shipments kept in memory. */
  readonly cache: CacheLimits;
}

const LIMITS: ShipmentsLimits = {
  deadlineMs: 5_000,
  commandsPerShipment: 2_000,
  commands: 10_000,
  cache: { shipments: 20_000, bytes: 128 * 1024 * 1024 },
};

export interface ShipmentsOptions {
  readonly eventStore: EventStore;
  readonly places: DecideContext['places'];
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly limits?: Partial<ShipmentsLimits>;
}

/** The service on an event store, in the process that does the work. */
export class Shipments implements ShipmentsService {
  private readonly eventStore: EventStore;
  private readonly cache: ShipmentCache;
  private readonly writer: ShipmentWriter;
  private readonly metrics: CommandMetrics;

  constructor(options: ShipmentsOptions) {
    const limits = { ...LIMITS, ...options.limits };
    this.eventStore = options.eventStore;
    this.metrics = new CommandMetrics(options.metrics);
    this.cache = new ShipmentCache(limits.cache, this.metrics.cacheReads);
    this.writer = new ShipmentWriter({ ...options, cache: this.cache, conflicts: this.metrics.conflicts, limits });
    options.metrics.gauge('commands_pending', 'Commands accepted and not answered yet.', [], () => this.writer.depth);
    options.metrics.gauge('shipment_cache_size', 'Folded shipments in memory.', [], () => this.cache.size);
  }

  upsert(command: Omit<UpsertShipment, 'shipment_id'>): Promise<Written<UpsertShipmentAnswer>> {
    const shipment_id = shipmentIdFor(command, command.fields.external_id, command.id);
    return this.execute<'UpsertShipment'>({ ...command, shipment_id });
  }

  recordMilestone(command: RecordMilestone): Promise<Written<RecordMilestoneAnswer>> {
    return this.execute(command);
  }

  cancel(command: CancelShipment): Promise<Written<CancellationAnswer>> {
    return this.execute(command);
  }

  reopen(command: ReopenShipment): Promise<Written<CancellationAnswer>> {
    return this.execute(command);
  }

  private async execute<Type extends CommandType>(command: CommandOf<Type>): Promise<Written<AnswerOf<Type>>> {
    const written = await this.metrics.measure(command.type, () => {
      if (parseShipmentId(command.shipment_id) === undefined) throw noSuchShipment();
      return this.writer.write(command);
    });
    // The handler of the command's type made the answer.
    return written as unknown as Written<AnswerOf<Type>>;
  }

  async getShipment({ shipment_id, ...scope }: GetShipment): Promise<FoundShipment | undefined> {
    const shipmentId = parseShipmentId(shipment_id);
    if (shipmentId === undefined) return undefined;
    const current = await readShipment(this.eventStore, streamOf(shipmentId), this.cache.get(shipmentId));
    if (current === undefined || !isInScope(current.state, scope)) return undefined;
    this.cache.put(shipmentId, current);
    return { record: current.state.record, position: current.position };
  }
}
