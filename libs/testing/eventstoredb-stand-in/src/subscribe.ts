import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import streamsPb, { type ReadReq, type ReadResp } from '@eventstore/db-client/generated/streams_pb.js';
import type { ServerWritableStream } from '@grpc/grpc-js';
import type { EventStore, Position, StoredEvent } from '@tracking/ports';
import { toGrpcErrorOfStandInNode } from './errors.ts';
import type { FaultSwitches } from './faults.ts';
import { toStorePosition, RequestRefusedError, toProtocolLogPosition, toReadResponse } from './records.ts';

/** Number of events between two checkpoints if the client sets no search window. */
const DEFAULT_EVENTS_PER_CHECKPOINT = 32;

/** Every fourth checkpoint among old events has a `prepare` position; in the other checkpoints, `prepare` is 0. */
const CHECKPOINTS_PER_PREPARE_POSITION = 4;

export interface SubscriptionLimits {
  /**
   * Maximum number of events that a live subscription may be behind while its client reads nothing. The node then drops
   * the subscription.
   */
  readonly liveBuffer: number;
}

/** A subscription to one stream or to all streams. */
interface SubscribeCall {
  readonly store: EventStore;
  readonly faults: FaultSwitches;
  readonly limits: SubscriptionLimits;
  readonly options: ReadReq.Options;
  readonly responses: GrpcReadResponseStream;
}

/** The events of a subscription, and the position after which it starts. */
interface SubscriptionStartAndEventFilter {
  readonly after: Position | undefined;
  readonly streamPrefixes: readonly string[];
  matches(event: StoredEvent): boolean;
}

/** Sends stored events, then new ones, until the client disconnects or is too slow. */
export async function sendSubscribedEvents(call: SubscribeCall): Promise<void> {
  const { store, faults, options, responses } = call;
  const selection = await parseEventStoreSubscriptionSelection(store, options);
  const ended = faults.addEndableSubscription((reason) => responses.failResponseStream(reason));
  try {
    await responses.sendStreamMessage(createSubscriptionConfirmation(randomUUID()));
    await new NodeSubscription(call, selection).streamEventsToSubscriber();
  } finally {
    ended();
  }
}

class NodeSubscription {
  private isLive = false;
  /** All events up to this position were sent or do not match. */
  private seen: bigint;
  private lastCheckpoint: bigint;
  private checkpoints = 0;
  /** Number of events between two checkpoints, as requested by the client. */
  private readonly checkpointInterval: number;

  constructor(
    private readonly call: SubscribeCall,
    private readonly selection: SubscriptionStartAndEventFilter,
  ) {
    const filter = call.options.getFilter();
    this.seen = toPositionNumber(selection.after);
    this.lastCheckpoint = this.seen;
    this.checkpointInterval =
      (filter?.getCheckpointintervalmultiplier() ?? 0) * (filter?.getMax() || DEFAULT_EVENTS_PER_CHECKPOINT);
  }

  async streamEventsToSubscriber(): Promise<void> {
    const { store, responses } = this.call;
    const { after, streamPrefixes } = this.selection;
    for await (const batch of store.catchUp({ after, streamPrefixes, signal: responses.signal })) {
      for (const event of batch.events) if (this.selection.matches(event)) await this.sendEvent(event);
      this.seen = toPositionNumber(batch.position);
      await this.sendCheckpointIfDue(this.seen);
      this.isLive ||= batch.caughtUp;
    }
  }

  private async sendEvent(event: StoredEvent): Promise<void> {
    await this.call.faults.waitWhileNodeHangs();
    const position = toPositionNumber(event.position);
    await this.sendCheckpointIfDue(position - 1n);
    await this.call.responses.sendStreamMessage(toReadResponse(event), this.isTooSlow);
    this.seen = position;
  }

  /**
   * Sends a checkpoint if one is due. All earlier events were sent. A node that reads old events usually leaves
   * `prepare` at 0.
   */
  private async sendCheckpointIfDue(position: bigint): Promise<void> {
    const { options, faults, responses } = this.call;
    const interval = faults.checkpointInterval ?? this.checkpointInterval;
    if (!options.hasFilter() || position - this.lastCheckpoint < interval) return;
    const commit = toProtocolLogPosition(position.toString(16));
    this.checkpoints += 1;
    const isWhole = this.isLive || this.checkpoints % CHECKPOINTS_PER_PREPARE_POSITION === 0;
    await responses.sendStreamMessage(createCheckpointResponse(commit, isWhole ? commit : '0'), this.isTooSlow);
    this.lastCheckpoint = position;
  }

  private readonly isTooSlow = async (): Promise<boolean> => {
    const { store, limits } = this.call;
    return this.isLive && toPositionNumber(await store.head()) - this.seen > limits.liveBuffer;
  };
}

function toPositionNumber(position: Position | undefined): bigint {
  return BigInt(`0x${position ?? '0'}`);
}

async function parseEventStoreSubscriptionSelection(
  store: EventStore,
  options: ReadReq.Options,
): Promise<SubscriptionStartAndEventFilter> {
  const stream = options.getStream();
  if (stream !== undefined) {
    const name = Buffer.from(stream.getStreamIdentifier()?.getStreamName_asU8() ?? []).toString();
    const revision = stream.hasRevision() ? Number(stream.getRevision()) : -1;
    return {
      after: stream.hasEnd() ? await store.head() : undefined,
      streamPrefixes: [name],
      matches: (event) => event.stream === name && event.revision > revision,
    };
  }
  const all = options.getAll();
  const position = all?.getPosition()?.getCommitPosition();
  const after = position === undefined ? undefined : toStorePosition(position);
  return { after: all?.hasEnd() ? await store.head() : after, ...parseSubscriptionFilter(options.getFilter()) };
}

function parseSubscriptionFilter(
  filter: ReadReq.Options.FilterOptions | undefined,
): Omit<SubscriptionStartAndEventFilter, 'after'> {
  const byStream = filter?.getStreamIdentifier();
  const expression = byStream ?? filter?.getEventType();
  const prefixes = expression?.getPrefixList() ?? [];
  if (byStream !== undefined && prefixes.length > 0) return { streamPrefixes: prefixes, matches: () => true };
  const regex = new RegExp(expression?.getRegex() ?? '', 'u');
  const fits = (name: string) =>
    prefixes.length > 0 ? prefixes.some((prefix) => name.startsWith(prefix)) : regex.test(name);
  return { streamPrefixes: [''], matches: ({ stream, type }) => fits(byStream === undefined ? type : stream) };
}

/** Milliseconds between two checks of a blocked subscription: if the consumer is too far behind, it is dropped. */
const SLOW_CONSUMER_CHECK_MS = 100;

/** Responses of one read call. The stream waits until the client has read what was written. */
export class GrpcReadResponseStream {
  private readonly ending = new AbortController();
  private readonly call: ServerWritableStream<ReadReq, ReadResp>;

  constructor(call: ServerWritableStream<ReadReq, ReadResp>) {
    this.call = call;
    call.on('cancelled', () => this.ending.abort());
    call.on('error', () => this.ending.abort());
  }

  /** Signal that aborts when the client has disconnected or the call has failed. */
  get signal(): AbortSignal {
    return this.ending.signal;
  }

  /** @param isTooSlow called while the client reads nothing; if it returns true, the subscription is dropped */
  async sendStreamMessage(response: ReadResp, isTooSlow?: () => Promise<boolean>): Promise<void> {
    this.signal.throwIfAborted();
    if (this.call.write(response)) return;
    const drained = once(this.call, 'drain', { signal: this.signal });
    if (isTooSlow === undefined) {
      await drained;
      return;
    }
    const timer = setInterval(() => {
      void isTooSlow().then((tooSlow) => {
        if (tooSlow) this.failResponseStream(new RequestRefusedError({ kind: 'consumer_too_slow' }));
      });
    }, SLOW_CONSUMER_CHECK_MS);
    await drained.finally(() => clearInterval(timer));
  }

  endResponseStream(): void {
    if (!this.signal.aborted) this.call.end();
  }

  failResponseStream(error: unknown): void {
    if (this.signal.aborted) return;
    this.call.emit('error', toGrpcErrorOfStandInNode(error));
    this.ending.abort();
  }
}

function createSubscriptionConfirmation(subscriptionId: string): ReadResp {
  const confirmed = new streamsPb.ReadResp.SubscriptionConfirmation().setSubscriptionId(subscriptionId);
  return new streamsPb.ReadResp().setConfirmation(confirmed);
}

function createCheckpointResponse(commit: string, prepare: string): ReadResp {
  const reached = new streamsPb.ReadResp.Checkpoint().setCommitPosition(commit).setPreparePosition(prepare);
  return new streamsPb.ReadResp().setCheckpoint(reached);
}
