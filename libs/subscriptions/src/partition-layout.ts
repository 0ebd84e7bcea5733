import type { Collection, CollectionSpec, Document, DocumentStore, Position } from '@tracking/ports';
import {
  doesPartitionKeyContainLayoutVersion,
  type CheckpointDocument,
  computeLeaseTerm,
  createCheckpointId,
  CHECKPOINTS_COLLECTION_SPEC,
  CheckpointSupersededError,
  RETIRED_CHECKPOINT_EPOCH,
  toHandledPosition,
} from './checkpoint.ts';
import { PARKED_STREAMS_COLLECTION_SPEC, type ParkedStream } from './parked-streams.ts';
import { DEFAULT_PARTITIONS, STREAM_NAME_CHARACTERS, splitStreamsIntoPartitions } from './stream-slots.ts';
import type { StreamPartition, SubscriberNameAndGeneration } from './subscriber.ts';

export const PARTITION_LAYOUTS_COLLECTION_SPEC: CollectionSpec = {
  name: 'subscription_partitions',
  indexes: [{ name: 'by_subscriber', fields: ['subscriber', 'generation'] }],
};
const PAGE_SIZE = 500;

/** Partitions that one generation of a subscriber uses. Before the first layout, it uses one partition. */
export interface PartitionLayout extends Document {
  readonly subscriber: string;
  readonly generation: number;
  /** Number of partitions. */
  readonly partitions: number;
  /** Increases with every change, from 0 before the first layout. */
  readonly version: number;
  /** Number of partitions of the next layout, if its change has begun. A change that has begun is always completed. */
  readonly next?: number;
}

/** Number of partitions that an operator requested for a subscriber. It is stored beside the layouts. */
interface RequestedPartitionCount extends Document {
  readonly subscriber: string;
  readonly partitions: number;
}

/** The layout of one generation of a subscriber. All processes read it from the document store. */
export class PartitionLayoutStore {
  constructor(
    private readonly store: DocumentStore,
    private readonly subscriber: SubscriberNameAndGeneration,
    private readonly streamPrefix: string,
    /** Number of partitions until an operator requests another number. */
    private readonly defaultPartitions: number,
  ) {}

  /**
   * Returns the layout in use, and the number of partitions that it should have. A change that has begun comes before a
   * later request.
   * @throws UnavailableError
   */
  async readPartitionLayout(): Promise<{ readonly layout: PartitionLayout; readonly requested: number }> {
    const { name, generation } = this.subscriber;
    const documents = await this.store.collection<PartitionLayout | RequestedPartitionCount>(
      PARTITION_LAYOUTS_COLLECTION_SPEC,
    );
    const id = formatPartitionLayoutId(this.subscriber);
    // Stores combine single reads of one turn, also those of other subscribers.
    const [stored, request] = await Promise.all([documents.get(id), documents.get(createRequestedPartitionsId(name))]);
    const layout = stored as PartitionLayout | undefined;
    return {
      layout: layout ?? { id, subscriber: name, generation, partitions: 1, version: 0 },
      requested: layout?.next ?? request?.partitions ?? this.defaultPartitions,
    };
  }

  listStreamPartitionsOfLayout(layout: PartitionLayout): readonly StreamPartition[] {
    return splitStreamsIntoPartitions(this.streamPrefix, layout);
  }

  /**
   * Replaces the layout. The new partitions continue where the earlier ones ended. Call the method only while this
   * process holds the leases of all partitions of the layout. It can be repeated after a crash.
   * @param throwUnlessHeld throws if the process no longer holds the leases
   * @returns true if a process of a release without layouts has handled the streams
   * @throws UnavailableError; CheckpointSupersededError if another process has changed the layout
   */
  async replacePartitionLayout(
    layout: PartitionLayout,
    partitions: number,
    throwUnlessHeld: () => void,
  ): Promise<boolean> {
    const checkpoints = await this.store.collection<CheckpointDocument>(CHECKPOINTS_COLLECTION_SPEC);
    const layouts = await this.store.collection<PartitionLayout>(PARTITION_LAYOUTS_COLLECTION_SPEC);
    const { next: _, ...present } = layout;
    const next = { ...present, partitions, version: layout.version + 1 };
    // The retired checkpoints of this layout cannot be used again. From now on, any process completes this change first.
    const begun = { ...layout, next: partitions };
    if (!(await layouts.insert(begun))) await layouts.replace(begun, { version: layout.version });
    const handled = await this.freezeCheckpointsOfLayout(checkpoints, layout);
    const created = this.listStreamPartitionsOfLayout(next);
    for (const partition of created) {
      throwUnlessHeld();
      const checkpoint = this.createPartitionCheckpoint(partition, next.version, handled);
      if (await checkpoints.insert(checkpoint)) continue;
      // An interrupted change has created the checkpoint, or it is the one of a single partition in earlier layouts.
      const isOfEarlierLayout = await checkpoints.replace(checkpoint, { layout: { lt: next.version } });
      if (!isOfEarlierLayout) await checkpoints.replace(checkpoint, { layout: { exists: false } });
    }
    await this.moveParkedStreams(created, computeLeaseTerm(next.version, 0));
    throwUnlessHeld();
    await layouts.replace(next, { version: layout.version });
    await this.deleteCheckpointsOfReplacedLayout(checkpoints, layout);
    return layout.version === 0 && handled.some(({ checkpoint }) => checkpoint.position !== null);
  }

  /**
   * Makes the store refuse all later moves of the layout's checkpoints, and returns the checkpoints with the stream
   * prefixes that they stand for.
   */
  private async freezeCheckpointsOfLayout(
    checkpoints: Collection<CheckpointDocument>,
    layout: PartitionLayout,
  ): Promise<readonly StreamPrefixesWithCheckpoint[]> {
    const { name, generation } = this.subscriber;
    const retire = async ({ key, streamPrefixes }: StreamPartition): Promise<StreamPrefixesWithCheckpoint> => {
      const id = createCheckpointId(name, generation, key);
      const of = { subscriber: name, generation, partition: key, layout: layout.version };
      // Later layouts create their checkpoints with their partitions, and delete those that they have replaced.
      if (layout.version === 0) await checkpoints.insert({ id, ...of, position: null, complete: false, epoch: 0 });
      const retired = { epoch: RETIRED_CHECKPOINT_EPOCH, layout: layout.version };
      const checkpoint =
        (await checkpoints.claim({ filter: { id, layout: layout.version } }, retired)) ??
        // Releases without layouts created the checkpoint.
        (await checkpoints.claim({ filter: { id, layout: { exists: false } } }, retired));
      if (checkpoint === undefined)
        throw new CheckpointSupersededError(`${id}: another process has changed the partitions`);
      return { streamPrefixes, checkpoint };
    };
    return Promise.all(this.listStreamPartitionsOfLayout(layout).map(retire));
  }

  /**
   * Creates the checkpoint of a partition at the earliest position that one of its streams has, and records the streams
   * that are ahead of it.
   */
  private createPartitionCheckpoint(
    { key, streamPrefixes }: StreamPartition,
    layout: number,
    handled: readonly StreamPrefixesWithCheckpoint[],
  ): CheckpointDocument {
    const { name, generation } = this.subscriber;
    const slots = streamPrefixes.flatMap((prefix) => listStreamPrefixesOneCharacterLonger(prefix, this.streamPrefix));
    const sources = slots.map((prefix) => ({ prefix, ...findPositionsHandledForPrefix(prefix, handled) }));
    const position = findAlphabeticallyFirstText(sources.map((source) => source.position));
    const handledPosition = findAlphabeticallyFirstText(sources.map((source) => source.handledPosition));
    const ahead = sources.flatMap(({ prefix, position: reached }) =>
      reached !== '' && reached > position ? [{ prefix, position: reached }] : [],
    );
    return {
      id: createCheckpointId(name, generation, key),
      ...{ subscriber: name, generation, partition: key, layout },
      position: position === '' ? null : position,
      ...(handledPosition > position && { late: handledPosition }),
      ...(ahead.length > 0 && { ahead }),
      complete: sources.every(({ complete }) => complete),
      epoch: 0,
    };
  }

  /**
   * Deletes the checkpoints of a replaced layout; after a crash, they can stay. That of the single partition always
   * stays: without it, a release without layouts would start again at the first event.
   */
  private async deleteCheckpointsOfReplacedLayout(
    checkpoints: Collection<CheckpointDocument>,
    layout: PartitionLayout,
  ): Promise<void> {
    const { name, generation } = this.subscriber;
    const keys = this.listStreamPartitionsOfLayout(layout).flatMap(({ key }) =>
      doesPartitionKeyContainLayoutVersion(key) ? [key] : [],
    );
    const guard = { epoch: RETIRED_CHECKPOINT_EPOCH };
    await checkpoints.writeMany(
      keys.map((key) => ({ kind: 'delete', id: createCheckpointId(name, generation, key), guard })),
    );
  }

  /**
   * Moves parked streams to the new partitions, by which processes of the previous release find them. Requests of
   * operators to retry them stay as they are.
   * @param lease_term term after those of all earlier owners, so that the store refuses their late writes
   */
  private async moveParkedStreams(partitions: readonly StreamPartition[], lease_term: number): Promise<void> {
    const { name, generation } = this.subscriber;
    const documents = await this.store.collection<ParkedStream>(PARKED_STREAMS_COLLECTION_SPEC);
    const query = { filter: { subscriber: name }, sort: { fields: ['id'] }, limit: PAGE_SIZE };
    for (let page = await documents.find(query); page.length > 0;) {
      for (const { id, stream, partition, generation: of } of page) {
        const target = partitions.find(({ streamPrefixes }) =>
          streamPrefixes.some((prefix) => stream.startsWith(prefix)),
        );
        if (of === generation && target !== undefined && partition !== target.key)
          // A new owner may have claimed the stream, if another process has completed the change meanwhile.
          await documents.claim({ filter: { id, partition } }, { partition: target.key, lease_term });
      }
      page = await documents.find({ ...query, after: [page.at(-1)?.id ?? ''] });
    }
  }
}

/** Prefixes of streams, and the checkpoint of their partition. */
interface StreamPrefixesWithCheckpoint {
  readonly streamPrefixes: readonly string[];
  readonly checkpoint: CheckpointDocument;
}

/** Returns the prefix extended by each possible character, or the prefix itself if it is already extended. */
function listStreamPrefixesOneCharacterLonger(prefix: string, streamPrefix: string): readonly string[] {
  return prefix === streamPrefix ? STREAM_NAME_CHARACTERS.map((character) => prefix + character) : [prefix];
}

/** Returns the positions that streams with the prefix have reached; an empty text before the first event. */
function findPositionsHandledForPrefix(prefix: string, handled: readonly StreamPrefixesWithCheckpoint[]) {
  const found = handled.find(({ streamPrefixes }) => streamPrefixes.some((each) => prefix.startsWith(each)));
  if (found === undefined) return { position: '', handledPosition: '', complete: false };
  const { checkpoint } = found;
  const ahead = checkpoint.ahead?.find((each) => prefix.startsWith(each.prefix));
  const position: Position = ahead?.position ?? checkpoint.position ?? '';
  const handledPosition = [position, toHandledPosition(checkpoint) ?? ''].sort().at(-1) ?? '';
  return { position, handledPosition, complete: checkpoint.complete };
}

function findAlphabeticallyFirstText(texts: readonly string[]): string {
  return texts.toSorted()[0] ?? '';
}

function formatPartitionLayoutId({ name, generation }: SubscriberNameAndGeneration): string {
  return `${name}/${generation}`;
}

function createRequestedPartitionsId(subscriber: string): string {
  return `${subscriber}/requested`;
}

/** Numbers of partitions of a subscriber, for operators. */
export interface SubscriberPartitionCount {
  readonly subscriber: string;
  /** Number of partitions in use. */
  readonly partitions: number;
  /** Number of partitions that was requested. All processes change to it within seconds. */
  readonly requested: number;
}

/** Reads and changes the numbers of partitions, for operators. */
export class PartitionCountManager {
  constructor(
    private readonly store: DocumentStore,
    /** Names of the subscribers that have several partitions. */
    readonly subscribers: readonly string[],
  ) {}

  /** @throws UnavailableError */
  listPartitionCountPerSubscriber(): Promise<readonly SubscriberPartitionCount[]> {
    return Promise.all(this.subscribers.map((subscriber) => this.readPartitionCount(subscriber)));
  }

  /**
   * Requests another number of partitions.
   * @param subscriber one of `subscribers`
   * @param partitions one of `ALLOWED_PARTITION_COUNTS`
   * @throws UnavailableError
   */
  async requestPartitionCountChange(subscriber: string, partitions: number): Promise<SubscriberPartitionCount> {
    const documents = await this.store.collection<RequestedPartitionCount>(PARTITION_LAYOUTS_COLLECTION_SPEC);
    await documents.upsert({ id: createRequestedPartitionsId(subscriber), subscriber, partitions });
    return this.readPartitionCount(subscriber);
  }

  private async readPartitionCount(subscriber: string): Promise<SubscriberPartitionCount> {
    const layouts = await this.store.collection<PartitionLayout>(PARTITION_LAYOUTS_COLLECTION_SPEC);
    const filter = { subscriber, generation: { gte: 1 } };
    const found = await layouts.find({
      filter,
      limit: 1,
      index: 'by_subscriber',
      sort: { fields: ['generation'], descending: true },
    });
    const requested = await layouts.get(createRequestedPartitionsId(subscriber));
    return {
      subscriber,
      partitions: found[0]?.partitions ?? 1,
      requested: requested?.partitions ?? DEFAULT_PARTITIONS,
    };
  }
}

/**
 * Returns true if the error can mean that another process has replaced the partitions, before this process has read
 * their new number. That is expected, and ends with the next read.
 */
export function mayPartitionBeReplaced({ key }: StreamPartition, error: unknown): boolean {
  return error instanceof CheckpointSupersededError && doesPartitionKeyContainLayoutVersion(key);
}
