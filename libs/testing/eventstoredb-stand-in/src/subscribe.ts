import { randomUUID } from 'node:crypto';
import type { ReadReq } from '@eventstore/db-client/generated/streams_pb.js';
import type { EventStore, Position, StoredEvent } from '@tracking/ports';
import type { FaultSwitches } from './faults.ts';
import { checkpoint, confirmation, type Outlet } from './outlet.ts';
import { fromLogPosition, toLogPosition, toReadResponse } from './records.ts';

/** Events that a node looks at between two checkpoints where the client names no search window. */
const DEFAULT_WINDOW = 32;

/** Of the checkpoints among old events every so manieth has both its halves. */
const WHOLE_CHECKPOINTS = 4;

export interface SubscriptionLimits {
  /** So many events behind, with its client taking nothing, a subscription that was once live is dropped. */
  readonly liveBuffer: number;
}

/** Which events, and from where on. */
interface Selection {
  readonly after: Position | undefined;
  readonly streamPrefixes: readonly string[];
  matches(event: StoredEvent): boolean;
}

/** Hands out what is stored, then what comes, until the client goes or is too slow. */
export async function subscribe(
  store: EventStore,
  faults: FaultSwitches,
  { liveBuffer }: SubscriptionLimits,
  options: ReadReq.Options,
  outlet: Outlet,
): Promise<void> {
  const { after, streamPrefixes, matches } = await selectionOf(store, options);
  const ended = faults.onEnd((reason) => outlet.fail(reason));
  const filter = options.getFilter();
  const asked = (filter?.getCheckpointintervalmultiplier() ?? 0) * (filter?.getMax() || DEFAULT_WINDOW);
  let isLive = false;
  let seen = after === undefined ? 0n : BigInt(`0x${after}`);
  let lastCheckpoint = seen;
  let checkpoints = 0;

  async function isTooSlow(): Promise<boolean> {
    return isLive && BigInt(`0x${(await store.head()) ?? '0'}`) - seen > liveBuffer;
  }

  /** All up to here was handed out. A node that reads old events leaves `prepare` at 0, mostly. */
  async function reached(position: bigint): Promise<void> {
    if (filter === undefined || position - lastCheckpoint < (faults.checkpointInterval ?? asked)) return;
    const commit = toLogPosition(position.toString(16));
    checkpoints += 1;
    const isWhole = isLive || checkpoints % WHOLE_CHECKPOINTS === 0;
    await outlet.write(checkpoint(commit, isWhole ? commit : '0'), isTooSlow);
    lastCheckpoint = position;
  }

  try {
    await outlet.write(confirmation(randomUUID()));
    for await (const batch of store.catchUp({ after, streamPrefixes, signal: outlet.signal })) {
      for (const event of batch.events) {
        if (!matches(event)) continue;
        await faults.passGate();
        const position = BigInt(`0x${event.position}`);
        await reached(position - 1n);
        await outlet.write(toReadResponse(event), isTooSlow);
        seen = position;
      }
      seen = BigInt(`0x${batch.position}`);
      await reached(seen);
      isLive ||= batch.caughtUp;
    }
  } finally {
    ended();
  }
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
