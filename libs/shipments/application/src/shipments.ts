import { DomainError } from '@tracking/contracts';
import {
  Busy,
  type Counter,
  type EventStore,
  type Histogram,
  type Logger,
  type Metrics,
  Unavailable,
} from '@tracking/ports';
import {
  type AnswerOf,
  type CommandOf,
  type CommandType,
  commandTypes,
  type DecideContext,
  noSuchShipment,
  parseShipmentId,
  type ShipmentCommand,
} from '@tracking/shipments-domain';
import { remembering, type RuleSettingsReader, type ShipmentAnswer, type Written } from './decide-batch.ts';
import { shipmentIdFor } from './ids.ts';
import { shipmentReads } from './reads/read-shipments.ts';
import type { ShipmentReads } from './reads/shipment-reads.ts';
import { type CacheLimits, ShipmentCache } from './shipment-cache.ts';
import { type CommandLimits, ShipmentWriter } from './shipment-writer.ts';

/** A command as the edge sends it: the id of a shipment that it may create is made of its `external_id`. */
type SubmittedCommand<Type extends CommandType> = Type extends 'UpsertShipment'
  ? Omit<CommandOf<Type>, 'shipment_id'>
  : CommandOf<Type>;

/**
 * What is done to shipments: an operation for each command of the domain, `upsertShipment` for `UpsertShipment`. The same
 * command id is the same command, however often and wherever it is sent: it is carried out once and answered the same, so
 * that any command may be repeated after an unknown outcome. Commands of one shipment are serialised, whatever replica
 * they reach.
 * All throw `DomainError` (`not_found` also for another scope's shipment), `Unavailable` when the outcome is unknown, and
 * `Busy` when nothing was done for want of room.
 */
export type ShipmentCommands = {
  readonly [Type in CommandType as Uncapitalize<Type>]: (
    command: SubmittedCommand<Type>,
  ) => Promise<Written<AnswerOf<Type>>>;
};

export interface ShipmentsService extends ShipmentCommands, ShipmentReads {}

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

/** From a fold in memory (well under a millisecond) to a deadline. */
const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];

/** What operators see of the commands of a process. */
class CommandMetrics {
  readonly conflicts: Counter;
  readonly cacheReads: Counter;
  private readonly total: Counter;
  private readonly seconds: Histogram;

  constructor(metrics: Metrics) {
    this.conflicts = metrics.counter('command_conflicts_total', 'Appends refused since another replica had written.');
    this.cacheReads = metrics.counter('shipment_cache_reads_total', 'Look-ups of folded shipments.', ['result']);
    this.total = metrics.counter('commands_total', 'Commands answered, by what came of them.', ['type', 'outcome']);
    this.seconds = metrics.histogram('command_duration_seconds', 'From arrival to answer.', ['type'], SECONDS);
  }

  /** Counts and times one command; its result or error passes through. */
  async measure<Answer extends ShipmentAnswer>(
    type: ShipmentCommand['type'],
    run: () => Promise<Written<Answer>>,
  ): Promise<Written<Answer>> {
    const start = performance.now();
    let outcome: string = 'error';
    try {
      const written = await run();
      outcome = written.answer.outcome;
      return written;
    } catch (error) {
      outcome = outcomeOf(error);
      throw error;
    } finally {
      this.total.add(1, { type, outcome });
      this.seconds.observe((performance.now() - start) / 1000, { type });
    }
  }
}

function outcomeOf(error: unknown): string {
  if (error instanceof DomainError) return 'refused';
  if (error instanceof Busy) return 'busy';
  return error instanceof Unavailable ? 'unavailable' : 'error';
}
