import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import streamsPb, { type ReadReq, type ReadResp } from '@eventstore/db-client/generated/streams_pb.js';
import type { ServerWritableStream } from '@grpc/grpc-js';
import type { EventStore, Position, StoredEvent } from '@tracking/ports';
import { toServiceError } from './errors.ts';
import type { FaultSwitches } from './faults.ts';
import { fromLogPosition, RequestRefused, toLogPosition, toReadResponse } from './records.ts';

/** Events that a node looks at between two checkpoints where the client names no search window. */
const DEFAULT_WINDOW = 32;

/** Every fourth checkpoint among old events has both its halves; the others have `prepare` 0. */
const WHOLE_CHECKPOINTS = 4;

export interface SubscriptionLimits {
  /** So many events behind, with its client taking nothing, a subscription that was once live is dropped. */
  readonly liveBuffer: number;
}

/** One subscription, to a stream or to everything. */
interface SubscribeCall {
  readonly store: EventStore;
  readonly faults: FaultSwitches;
  readonly limits: SubscriptionLimits;
  readonly options: ReadReq.Options;
  readonly responses: ResponseStream;
}

/** Which events, and from where on. */
interface Selection {
  readonly after: Position | undefined;
  readonly streamPrefixes: readonly string[];
  matches(event: StoredEvent): boolean;
}

/** Sends what is stored, then what comes, until the client goes or is too slow. */
export async function subscribe(call: SubscribeCall): Promise<void> {
  const { store, faults, options, responses } = call;
  const selection = await selectionOf(store, options);
  const ended = faults.onEnd((reason) => responses.fail(reason));
  try {
    await responses.write(confirmation(randomUUID()));
    await new NodeSubscription(call, selection).run();
  } finally {
    ended();
  }
}

class NodeSubscription {
  private isLive = false;
  /** Everything up to here was sent or does not match. */
  private seen: bigint;
  private lastCheckpoint: bigint;
  private checkpoints = 0;
  /** Events between two checkpoints, as the client asked for. */
  private readonly checkpointInterval: number;

  constructor(
    private readonly call: SubscribeCall,
    private readonly selection: Selection,
  ) {
    const filter = call.options.getFilter();
    this.seen = toNumber(selection.after);
    this.lastCheckpoint = this.seen;
    this.checkpointInterval = (filter?.getCheckpointintervalmultiplier() ?? 0) * (filter?.getMax() || DEFAULT_WINDOW);
  }

  async run(): Promise<void> {
    const { store, responses } = this.call;
    const { after, streamPrefixes } = this.selection;
    for await (const batch of store.catchUp({ after, streamPrefixes, signal: responses.signal })) {
      for (const event of batch.events) if (this.selection.matches(event)) await this.send(event);
      this.seen = toNumber(batch.position);
      await this.checkpointAt(this.seen);
      this.isLive ||= batch.caughtUp;
    }
  }

  private async send(event: StoredEvent): Promise<void> {
    await this.call.faults.passGate();
    const position = toNumber(event.position);
    await this.checkpointAt(position - 1n);
    await this.call.responses.write(toReadResponse(event), this.isTooSlow);
    this.seen = position;
  }

  /** Where one is due; all up to here was sent. A node that reads old events leaves `prepare` at 0, mostly. */
  private async checkpointAt(position: bigint): Promise<void> {
    const { options, faults, responses } = this.call;
    const interval = faults.checkpointInterval ?? this.checkpointInterval;
    if (!options.hasFilter() || position - this.lastCheckpoint < interval) return;
    const commit = toLogPosition(position.toString(16));
    this.checkpoints += 1;
    const isWhole = this.isLive || this.checkpoints % WHOLE_CHECKPOINTS === 0;
    await responses.write(checkpoint(commit, isWhole ? commit : '0'), this.isTooSlow);
    this.lastCheckpoint = position;
  }

  private readonly isTooSlow = async (): Promise<boolean> => {
    const { store, limits } = this.call;
    return this.isLive && toNumber(await store.head()) - this.seen > limits.liveBuffer;
  };
}

function toNumber(position: Position | undefined): bigint {
  return BigInt(`0x${position ?? '0'}`);
}

async function selectionOf(store: EventStore, options: ReadReq.Options): Promise<Selection> {
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
  const after = position === undefined ? undefined : fromLogPosition(position);
  return { after: all?.hasEnd() ? await store.head() : after, ...filterOf(options.getFilter()) };
}

function filterOf(filter: ReadReq.Options.FilterOptions | undefined): Omit<Selection, 'after'> {
  const byStream = filter?.getStreamIdentifier();
  const expression = byStream ?? filter?.getEventType();
  const prefixes = expression?.getPrefixList() ?? [];
  if (byStream !== undefined && prefixes.length > 0) return { streamPrefixes: prefixes, matches: () => true };
  const regex = new RegExp(expression?.getRegex() ?? '', 'u');
  const fits = (name: string) =>
    prefixes.length > 0 ? prefixes.some((prefix) => name.startsWith(prefix)) : regex.test(name);
  return { streamPrefixes: [''], matches: ({ stream, type }) => fits(byStream === undefined ? type : stream) };
}

/** How often a blocked subscription looks whether its consumer has fallen too far behind. */
const LOOK_MS = 100;

/** The answering side of one read call: waits for its client to take what was written. */
export class ResponseStream {
  private readonly ending = new AbortController();
  private readonly call: ServerWritableStream<ReadReq, ReadResp>;

  constructor(call: ServerWritableStream<ReadReq, ReadResp>) {
    this.call = call;
    call.on('cancelled', () => this.ending.abort());
    call.on('error', () => this.ending.abort());
  }

  /** Aborts when the client has gone, or the call has failed. */
  get signal(): AbortSignal {
    return this.ending.signal;
  }

  /** @param isTooSlow asked while the client takes nothing: whether to give up on it */
  async write(response: ReadResp, isTooSlow?: () => Promise<boolean>): Promise<void> {
    this.signal.throwIfAborted();
    if (this.call.write(response)) return;
    const drained = once(this.call, 'drain', { signal: this.signal });
    if (isTooSlow === undefined) {
      await drained;
      return;
    }
    const timer = setInterval(() => {
      void isTooSlow().then((tooSlow) => {
        if (tooSlow) this.fail(new RequestRefused({ kind: 'consumer_too_slow' }));
      });
    }, LOOK_MS);
    await drained.finally(() => clearInterval(timer));
  }

  end(): void {
    if (!this.signal.aborted) this.call.end();
  }

  fail(error: unknown): void {
    if (this.signal.aborted) return;
    this.call.emit('error', toServiceError(error));
    this.ending.abort();
  }
}

function confirmation(subscriptionId: string): ReadResp {
  const confirmed = new streamsPb.ReadResp.SubscriptionConfirmation().setSubscriptionId(subscriptionId);
  return new streamsPb.ReadResp().setConfirmation(confirmed);
}

function checkpoint(commit: string, prepare: string): ReadResp {
  const reached = new streamsPb.ReadResp.Checkpoint().setCommitPosition(commit).setPreparePosition(prepare);
  return new streamsPb.ReadResp().setCheckpoint(reached);
}
