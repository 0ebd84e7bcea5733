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
  type AcknowledgeException,
  type AcknowledgeExceptionAnswer,
  type AddDocument,
  type ApproveDocument,
  type CancellationAnswer,
  type CancelShipment,
  type CheckRules,
  type CheckRulesAnswer,
  type CompleteUpload,
  type ContainerPatchAnswer,
  type CorrectMilestone,
  type CorrectMilestoneAnswer,
  type DeleteDocument,
  type DocumentAnswer,
  type OpenException,
  type OpenExceptionAnswer,
  type PatchContainer,
  type PatchShipment,
  type ReceiveUpload,
  type RecordMilestone,
  type RecordMilestoneAnswer,
  type RejectDocument,
  type ReopenShipment,
  type RequestUpload,
  type ResolveException,
  type ResolveExceptionAnswer,
  type RetractMilestone,
  type RetractMilestoneAnswer,
  type ShipmentPatchAnswer,
  type UpsertShipment,
  type UpsertShipmentAnswer,
  type CommandResult,
  type DecideContext,
  createShipmentNotFoundError,
  parseShipmentId,
  type ShipmentCommand,
} from '@tracking/shipments-domain';
import { createCachedRuleSettingsReader, type RuleSettingsReader, type WrittenAnswer } from './decide-batch.ts';
import { createShipmentId } from './ids.ts';
import { ShipmentStreamReads } from './reads/read-shipments.ts';
import { type CacheLimits, ShipmentCache } from './shipment-cache.ts';
import { type CommandLimits, ShipmentWriter } from './shipment-writer.ts';

/** A command without its type, which the operation sets. */
type CommandRequest<Command extends ShipmentCommand> = Omit<Command, 'type'>;

/** The operations of {@link Shipments}. They run in this process or in another one. */
export type ShipmentsService = Pick<Shipments, keyof Shipments>;

export interface ShipmentsLimits extends CommandLimits {
  /** Limits of the cache of folded shipments. */
  readonly cache: CacheLimits;
}

const DEFAULT_SHIPMENTS_LIMITS: ShipmentsLimits = {
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

/**
 * The shipments service on an event store. It has an operation for each command of the domain, and reads of single
 * shipments. A command is executed once per command id and always gets the same answer, so every command may be
 * repeated after an unknown outcome, in any process. Commands of one shipment are serialized across replicas. Every
 * command throws `DomainError` (`not_found` also for a shipment of another scope), `Unavailable` if the outcome is
 * unknown, and `Busy` if queues are full and nothing was done.
 */
export class Shipments extends ShipmentStreamReads {
  private readonly writer: ShipmentWriter;
  private readonly metrics: CommandMetrics;

  constructor(options: ShipmentsOptions) {
    const settings = createCachedRuleSettingsReader(options.settings);
    const limits = { ...DEFAULT_SHIPMENTS_LIMITS, ...options.limits };
    const metrics = new CommandMetrics(options.metrics);
    const cache = new ShipmentCache(limits.cache, metrics.cacheReads);
    super({ ...options, settings, cache });
    this.metrics = metrics;
    this.writer = new ShipmentWriter({ ...options, settings, cache, conflicts: metrics.conflicts, limits });
    options.metrics.gauge('commands_pending', 'Commands accepted but not answered yet.', [], () => this.writer.depth);
    options.metrics.gauge('shipment_cache_size', 'Folded shipments in memory.', [], () => cache.size);
  }

  /** Creates a shipment, or updates the shipment with this `external_id`. */
  upsertShipment(request: Omit<UpsertShipment, 'type' | 'shipment_id'>): Promise<WrittenAnswer<UpsertShipmentAnswer>> {
    // Concurrent upserts of one `external_id` use the same stream.
    const shipment_id = createShipmentId(request, request.fields.external_id, request.id);
    return this.executeCommand({ ...request, type: 'UpsertShipment', shipment_id });
  }

  patchShipment(request: CommandRequest<PatchShipment>): Promise<WrittenAnswer<ShipmentPatchAnswer>> {
    return this.executeCommand({ ...request, type: 'PatchShipment' });
  }

  patchContainer(request: CommandRequest<PatchContainer>): Promise<WrittenAnswer<ContainerPatchAnswer>> {
    return this.executeCommand({ ...request, type: 'PatchContainer' });
  }

  cancelShipment(request: CommandRequest<CancelShipment>): Promise<WrittenAnswer<CancellationAnswer>> {
    return this.executeCommand({ ...request, type: 'CancelShipment' });
  }

  /** Revokes the client's cancellation. */
  reopenShipment(request: CommandRequest<ReopenShipment>): Promise<WrittenAnswer<CancellationAnswer>> {
    return this.executeCommand({ ...request, type: 'ReopenShipment' });
  }

  /** Updates the shipment's exceptions to the present time and settings. If nothing changes, stores nothing. */
  checkRules(request: CommandRequest<CheckRules>): Promise<WrittenAnswer<CheckRulesAnswer>> {
    return this.executeCommand({ ...request, type: 'CheckRules' });
  }

  /** Records a milestone, or corrects the milestone with this `external_id`. */
  recordMilestone(request: CommandRequest<RecordMilestone>): Promise<WrittenAnswer<RecordMilestoneAnswer>> {
    return this.executeCommand({ ...request, type: 'RecordMilestone' });
  }

  correctMilestone(request: CommandRequest<CorrectMilestone>): Promise<WrittenAnswer<CorrectMilestoneAnswer>> {
    return this.executeCommand({ ...request, type: 'CorrectMilestone' });
  }

  retractMilestone(request: CommandRequest<RetractMilestone>): Promise<WrittenAnswer<RetractMilestoneAnswer>> {
    return this.executeCommand({ ...request, type: 'RetractMilestone' });
  }

  openException(request: CommandRequest<OpenException>): Promise<WrittenAnswer<OpenExceptionAnswer>> {
    return this.executeCommand({ ...request, type: 'OpenException' });
  }

  acknowledgeException(
    request: CommandRequest<AcknowledgeException>,
  ): Promise<WrittenAnswer<AcknowledgeExceptionAnswer>> {
    return this.executeCommand({ ...request, type: 'AcknowledgeException' });
  }

  resolveException(request: CommandRequest<ResolveException>): Promise<WrittenAnswer<ResolveExceptionAnswer>> {
    return this.executeCommand({ ...request, type: 'ResolveException' });
  }

  /** Adds a document whose bytes are already in the object store. */
  addDocument(request: CommandRequest<AddDocument>): Promise<WrittenAnswer<DocumentAnswer>> {
    return this.executeCommand({ ...request, type: 'AddDocument' });
  }

  /** Adds a document whose bytes arrive later. */
  requestUpload(request: CommandRequest<RequestUpload>): Promise<WrittenAnswer<DocumentAnswer>> {
    return this.executeCommand({ ...request, type: 'RequestUpload' });
  }

  receiveUpload(request: CommandRequest<ReceiveUpload>): Promise<WrittenAnswer<DocumentAnswer>> {
    return this.executeCommand({ ...request, type: 'ReceiveUpload' });
  }

  completeUpload(request: CommandRequest<CompleteUpload>): Promise<WrittenAnswer<DocumentAnswer>> {
    return this.executeCommand({ ...request, type: 'CompleteUpload' });
  }

  approveDocument(request: CommandRequest<ApproveDocument>): Promise<WrittenAnswer<DocumentAnswer>> {
    return this.executeCommand({ ...request, type: 'ApproveDocument' });
  }

  rejectDocument(request: CommandRequest<RejectDocument>): Promise<WrittenAnswer<DocumentAnswer>> {
    return this.executeCommand({ ...request, type: 'RejectDocument' });
  }

  deleteDocument(request: CommandRequest<DeleteDocument>): Promise<WrittenAnswer<DocumentAnswer>> {
    return this.executeCommand({ ...request, type: 'DeleteDocument' });
  }

  /** The cast is safe, because the handler of the command type returns an answer of this type. */
  private executeCommand<Answer extends CommandResult>(command: ShipmentCommand): Promise<WrittenAnswer<Answer>> {
    return this.metrics.measureCommand(command.type, async () => {
      if (parseShipmentId(command.shipment_id) === undefined) throw createShipmentNotFoundError();
      const written: WrittenAnswer<CommandResult> = await this.writer.executeCommand(command);
      return written as WrittenAnswer<Answer>;
    });
  }
}

/** Histogram buckets in seconds, from reading a shipment in memory (well below 1 ms) to the deadline of commands. */
const DURATION_BUCKETS_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];

/** Metrics of the commands that this process executes. */
class CommandMetrics {
  readonly conflicts: Counter;
  readonly cacheReads: Counter;
  private readonly total: Counter;
  private readonly seconds: Histogram;

  constructor(metrics: Metrics) {
    this.conflicts = metrics.counter('command_conflicts_total', 'Appends refused because another replica had written.');
    this.cacheReads = metrics.counter('shipment_cache_reads_total', 'Lookups of folded shipments in memory.', [
      'result',
    ]);
    this.total = metrics.counter('commands_total', 'Commands answered, by outcome.', ['type', 'outcome']);
    this.seconds = metrics.histogram(
      'command_duration_seconds',
      'Seconds from the arrival of a command to its answer.',
      ['type'],
      DURATION_BUCKETS_SECONDS,
    );
  }

  /** Counts and times one command. Returns the command's result or throws its error. */
  async measureCommand<Answer extends CommandResult>(
    type: ShipmentCommand['type'],
    run: () => Promise<WrittenAnswer<Answer>>,
  ): Promise<WrittenAnswer<Answer>> {
    const start = performance.now();
    let outcome: string = 'error';
    try {
      const written = await run();
      outcome = written.answer.outcome;
      return written;
    } catch (error) {
      outcome = describeCommandOutcome(error);
      throw error;
    } finally {
      this.total.add(1, { type, outcome });
      this.seconds.observe((performance.now() - start) / 1000, { type });
    }
  }
}

function describeCommandOutcome(error: unknown): string {
  if (error instanceof DomainError) return 'refused';
  if (error instanceof Busy) return 'busy';
  return error instanceof Unavailable ? 'unavailable' : 'error';
}
