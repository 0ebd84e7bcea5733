import type { EventStore, Logger, Metrics } from '@tracking/ports';
import {
  type CommandType,
  type DecideContext,
  type ShipmentCommand,
  commandTypes,
  noSuchShipment,
  parseShipmentId,
} from '@tracking/shipments-domain';
import { shipmentIdFor } from './ids.ts';
import { CommandMetrics } from './metrics.ts';
import { type RuleSettingsReader, remembering } from './rule-settings.ts';
import { shipmentReads } from './reads/read-shipments.ts';
import { type CacheLimits, ShipmentCache } from './shipment-cache.ts';
import { ShipmentWriter, type CommandLimits } from './shipment-writer.ts';
import type { ShipmentCommands, ShipmentsService, SubmittedCommand } from './shipments-service.ts';

export interface ShipmentsLimits extends CommandLimits {
  /** Folded shipments kept in memory. */
  readonly cache: CacheLimits;
}

const LIMITS: ShipmentsLimits = {
  deadlineMs: 5_000,
  silenceMs: 10_000,
  commandsPerShipment: 2_000,
  commands: 10_000,
  cache: { shipments: 10_000, bytes: 48 * 1024 * 1024 },
};

export interface ShipmentsOptions {
  readonly eventStore: EventStore;
  readonly places: DecideContext['places'];
  readonly settings: RuleSettingsReader;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly limits?: Partial<ShipmentsLimits>;
}

/** The service on an event store, in the process that does the work. */
export function shipmentsService(options: ShipmentsOptions): ShipmentsService {
  const { metrics } = options;
  const settings = remembering(options.settings);
  const limits = { ...LIMITS, ...options.limits };
  const commandMetrics = new CommandMetrics(metrics);
  const cache = new ShipmentCache(limits.cache, commandMetrics.cacheReads);
  const writer = new ShipmentWriter({ ...options, settings, cache, conflicts: commandMetrics.conflicts, limits });
  metrics.gauge('commands_pending', 'Commands accepted and not answered yet.', [], () => writer.depth);
  metrics.gauge('shipment_cache_size', 'Folded shipments in memory.', [], () => cache.size);

  // What is asked for decides what is done: the type that another process sends along is not believed.
  const operation = (type: CommandType) => (submitted: SubmittedCommand<CommandType>) =>
    commandMetrics.measure(type, () => {
      const command = withShipmentId({ ...submitted, type } as SubmittedCommand<CommandType>);
      if (parseShipmentId(command.shipment_id) === undefined) throw noSuchShipment();
      return writer.write(command);
    });

  return {
    // Each of them is answered by the handler of its command's type.
    ...(Object.fromEntries(
      commandTypes.map((type) => [operationOf(type), operation(type)]),
    ) as unknown as ShipmentCommands),

    ...shipmentReads({ ...options, settings, cache }),
  };
}

function operationOf(type: CommandType): string {
  return type.charAt(0).toLowerCase() + type.slice(1);
}

/** Two upserts of one reference meet in one stream. */
function withShipmentId(command: SubmittedCommand<CommandType>): ShipmentCommand {
  if (command.type !== 'UpsertShipment') return command;
  return { ...command, shipment_id: shipmentIdFor(command, command.fields.external_id, command.id) };
}
