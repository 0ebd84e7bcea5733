import { DomainError } from '@tracking/contracts';
import {
  BusyError,
  type Counter,
  type EventStore,
  type Histogram,
  type Logger,
  type Metrics,
  UnavailableError,
} from '@tracking/ports';
import {
  type AcknowledgeException,
  type AcknowledgeExceptionAnswer,
  type AddDocumentCommand,
  type ApproveDocumentCommand,
  type CancellationAnswer,
  type CancelShipmentCommand,
  type CheckRulesCommand,
  type CheckRulesAnswer,
  type CompleteUploadCommand,
  type ContainerPatchAnswer,
  type CorrectMilestoneCommand,
  type CorrectMilestoneAnswer,
  type DeleteDocumentCommand,
  type DocumentAnswer,
  type OpenExceptionCommand,
  type OpenExceptionAnswer,
  type PatchContainerCommand,
  type PatchShipmentCommand,
  type ReceiveUploadCommand,
  type RecordMilestoneCommand,
  type RecordMilestoneAnswer,
  type RejectDocumentCommand,
  type ReopenCancelledShipmentCommand,
  type RequestUploadCommand,
  type ResolveExceptionCommand,
  type ResolveExceptionAnswer,
  type RetractMilestoneCommand,
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
import type { AnswerWithPosition, RuleSettingsReader } from './decide-batch.ts';
import { createShipmentId } from './ids.ts';
import { ShipmentStreamReader } from './reads/read-shipments.ts';
import { type ShipmentCacheLimits, ShipmentCache } from './shipment-cache.ts';
import { type CommandLimits, ShipmentCommandExecutor } from './shipment-writer.ts';

/** A command without its type, which the operation sets. */
type CommandRequest<Command extends ShipmentCommand> = Omit<Command, 'type'>;

/** The operations of {@link EventSourcedShipmentService}. They run in this process or in another one. */
export type ShipmentsService = Pick<EventSourcedShipmentService, keyof EventSourcedShipmentService>;

export interface ShipmentServiceLimits extends CommandLimits {
  /** Limits of the cache of folded shipments. */
  readonly cache: ShipmentCacheLimits;
}

const DEFAULT_SHIPMENTS_LIMITS: ShipmentServiceLimits = {
  deadlineMs: 5_000,
  silenceMs: 10_000,
  commandsPerShipment: 2_000,
  commands: 10_000,
  cache: { shipments: 10_000, bytes: 48 * 1024 * 1024 },
};

export interface ShipmentsOptions {
  readonly eventStore: EventStore;
  readonly places: DecideContext['places'];
  /** If it returns the last known settings when they cannot be read, shipments can still be written. */
  readonly settings: RuleSettingsReader;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly limits?: Partial<ShipmentServiceLimits>;
}

/**
 * The shipments service on an event store. It has an operation for each command of the domain, and reads of single
 * shipments. A command is executed once per command id and always gets the same answer, so every command may be
 * repeated after an unknown outcome, in any process. Commands of one shipment are serialized across replicas. Every
 * command throws `DomainError` (`not_found` also for a shipment of another scope), `UnavailableError` if the outcome is
 * unknown, and `BusyError` if queues are full and nothing was done.
 */
export class EventSourcedShipmentService extends ShipmentStreamReader {
  private readonly writer: ShipmentCommandExecutor;
  private readonly metrics: CommandMetrics;

  constructor(options: ShipmentsOptions) {
    const limits = { ...DEFAULT_SHIPMENTS_LIMITS, ...options.limits };
    const metrics = new CommandMetrics(options.metrics);
    const cache = new ShipmentCache(limits.cache, metrics.cacheReads);
    super({ ...options, cache });
    this.metrics = metrics;
    this.writer = new ShipmentCommandExecutor({ ...options, cache, conflicts: metrics.conflicts, limits });
    options.metrics.createGauge(
      'commands_pending',
      'Commands accepted but not answered yet.',
      [],
      () => this.writer.depth,
    );
    options.metrics.createGauge('shipment_cache_size', 'Folded shipments in memory.', [], () => cache.size);
  }

  /** Creates a shipment, or updates the shipment with this `external_id`. */
  upsertShipment(
    request: Omit<UpsertShipment, 'type' | 'shipment_id'>,
  ): Promise<AnswerWithPosition<UpsertShipmentAnswer>> {
    // Concurrent upserts of one `external_id` use the same stream.
    const shipment_id = createShipmentId(request, request.fields.external_id, request.id);
    return this.executeCommand({ ...request, type: 'UpsertShipment', shipment_id });
  }

  patchShipment(request: CommandRequest<PatchShipmentCommand>): Promise<AnswerWithPosition<ShipmentPatchAnswer>> {
    return this.executeCommand({ ...request, type: 'PatchShipment' });
  }

  patchContainer(request: CommandRequest<PatchContainerCommand>): Promise<AnswerWithPosition<ContainerPatchAnswer>> {
    return this.executeCommand({ ...request, type: 'PatchContainer' });
  }

  cancelShipment(request: CommandRequest<CancelShipmentCommand>): Promise<AnswerWithPosition<CancellationAnswer>> {
    return this.executeCommand({ ...request, type: 'CancelShipment' });
  }

  /** Revokes the client's cancellation. */
  reopenShipment(
    request: CommandRequest<ReopenCancelledShipmentCommand>,
  ): Promise<AnswerWithPosition<CancellationAnswer>> {
    return this.executeCommand({ ...request, type: 'ReopenShipment' });
  }

  /** Updates the shipment's exceptions to the present time and settings. If nothing changes, stores nothing. */
  checkRules(request: CommandRequest<CheckRulesCommand>): Promise<AnswerWithPosition<CheckRulesAnswer>> {
    return this.executeCommand({ ...request, type: 'CheckRules' });
  }

  /** Records a milestone, or corrects the milestone with this `external_id`. */
  recordMilestone(request: CommandRequest<RecordMilestoneCommand>): Promise<AnswerWithPosition<RecordMilestoneAnswer>> {
    return this.executeCommand({ ...request, type: 'RecordMilestone' });
  }

  correctMilestone(
    request: CommandRequest<CorrectMilestoneCommand>,
  ): Promise<AnswerWithPosition<CorrectMilestoneAnswer>> {
    return this.executeCommand({ ...request, type: 'CorrectMilestone' });
  }

  retractMilestone(
    request: CommandRequest<RetractMilestoneCommand>,
  ): Promise<AnswerWithPosition<RetractMilestoneAnswer>> {
    return this.executeCommand({ ...request, type: 'RetractMilestone' });
  }

  openException(request: CommandRequest<OpenExceptionCommand>): Promise<AnswerWithPosition<OpenExceptionAnswer>> {
    return this.executeCommand({ ...request, type: 'OpenException' });
  }

  acknowledgeException(
    request: CommandRequest<AcknowledgeException>,
  ): Promise<AnswerWithPosition<AcknowledgeExceptionAnswer>> {
    return this.executeCommand({ ...request, type: 'AcknowledgeException' });
  }

  resolveException(
    request: CommandRequest<ResolveExceptionCommand>,
  ): Promise<AnswerWithPosition<ResolveExceptionAnswer>> {
    return this.executeCommand({ ...request, type: 'ResolveException' });
  }

  /** Adds a document whose bytes are already in the object store. */
  addDocument(request: CommandRequest<AddDocumentCommand>): Promise<AnswerWithPosition<DocumentAnswer>> {
    return this.executeCommand({ ...request, type: 'AddDocument' });
  }

  /** Adds a document whose bytes arrive later. */
  requestUpload(request: CommandRequest<RequestUploadCommand>): Promise<AnswerWithPosition<DocumentAnswer>> {
    return this.executeCommand({ ...request, type: 'RequestUpload' });
  }

  receiveUpload(request: CommandRequest<ReceiveUploadCommand>): Promise<AnswerWithPosition<DocumentAnswer>> {
    return this.executeCommand({ ...request, type: 'ReceiveUpload' });
  }

  completeUpload(request: CommandRequest<CompleteUploadCommand>): Promise<AnswerWithPosition<DocumentAnswer>> {
    return this.executeCommand({ ...request, type: 'CompleteUpload' });
  }

  approveDocument(request: CommandRequest<ApproveDocumentCommand>): Promise<AnswerWithPosition<DocumentAnswer>> {
    return this.executeCommand({ ...request, type: 'ApproveDocument' });
  }

  rejectDocument(request: CommandRequest<RejectDocumentCommand>): Promise<AnswerWithPosition<DocumentAnswer>> {
    return this.executeCommand({ ...request, type: 'RejectDocument' });
  }

  deleteDocument(request: CommandRequest<DeleteDocumentCommand>): Promise<AnswerWithPosition<DocumentAnswer>> {
    return this.executeCommand({ ...request, type: 'DeleteDocument' });
  }

  /** The cast is safe, because the handler of the command type returns an answer of this type. */
  private executeCommand<Answer extends CommandResult>(command: ShipmentCommand): Promise<AnswerWithPosition<Answer>> {
    return this.metrics.measureCommand(command.type, async () => {
      if (parseShipmentId(command.shipment_id) === undefined) throw createShipmentNotFoundError();
      const written: AnswerWithPosition<CommandResult> = await this.writer.executeCommand(command);
      return written as AnswerWithPosition<Answer>;
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
    this.conflicts = metrics.createCounter(
      'command_conflicts_total',
      'Appends refused because another replica had written.',
    );
    this.cacheReads = metrics.createCounter('shipment_cache_reads_total', 'Lookups of folded shipments in memory.', [
      'result',
    ]);
    this.total = metrics.createCounter('commands_total', 'Commands answered, by outcome.', ['type', 'outcome']);
    this.seconds = metrics.createHistogram(
      'command_duration_seconds',
      'Seconds from the arrival of a command to its answer.',
      ['type'],
      DURATION_BUCKETS_SECONDS,
    );
  }

  /** Counts and times one command. Returns the command's result or throws its error. */
  async measureCommand<Answer extends CommandResult>(
    type: ShipmentCommand['type'],
    run: () => Promise<AnswerWithPosition<Answer>>,
  ): Promise<AnswerWithPosition<Answer>> {
    const start = performance.now();
    let outcome: string = 'error';
    try {
      const written = await run();
      outcome = written.answer.outcome;
      return written;
    } catch (error) {
      outcome = toCommandOutcomeLabel(error);
      throw error;
    } finally {
      this.total.add(1, { type, outcome });
      this.seconds.observe((performance.now() - start) / 1000, { type });
    }
  }
}

function toCommandOutcomeLabel(error: unknown): string {
  if (error instanceof DomainError) return 'refused';
  if (error instanceof BusyError) return 'busy';
  return error instanceof UnavailableError ? 'unavailable' : 'error';
}
