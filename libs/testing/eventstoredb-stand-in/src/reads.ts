import streamsPb, { type ReadReq, type ReadResp } from '@eventstore/db-client/generated/streams_pb.js';
import type { handleServerStreamingCall } from '@grpc/grpc-js';
import type { FaultSwitches } from './faults.ts';
import { eventsBackwards, eventsUntil, previous } from './log.ts';
import { Outlet } from './outlet.ts';
import { fromLogPosition, toIdentifier, toReadResponse } from './records.ts';
import type { Streams } from './streams.ts';
import { subscribe, type SubscriptionLimits } from './subscribe.ts';

/** The call `Read`: of a stream or of everything, once or as a subscription. */
export function readCall(
  streams: Streams,
  faults: FaultSwitches,
  limits: SubscriptionLimits,
): handleServerStreamingCall<ReadReq, ReadResp> {
  return (call) => {
    const outlet = new Outlet(call);
    answer(call.request.getOptions() ?? new streamsPb.ReadReq.Options(), outlet).then(
      () => outlet.end(),
      (error: unknown) => outlet.fail(error),
    );
  };

  async function answer(options: ReadReq.Options, outlet: Outlet): Promise<void> {
    await faults.passGate();
    if (options.hasSubscription()) return subscribe(streams.store, faults, limits, options, outlet);
    const stream = options.getStream();
    return stream === undefined ? answerAll(options, outlet) : answerStream(stream, options, outlet);
  }

  async function answerStream(stream: ReadReq.Options.StreamOptions, options: ReadReq.Options, outlet: Outlet) {
    const backwards = isBackwards(options);
    const start = backwards ? undefined : 0;
    const from = stream.hasRevision() ? Number(stream.getRevision()) : stream.hasEnd() ? undefined : start;
    const name = Buffer.from(stream.getStreamIdentifier()?.getStreamName_asU8() ?? []).toString();
    const events = await streams.read(name, { from, count: Number(options.getCount()), backwards });
    if (events === undefined) {
      const missing = new streamsPb.ReadResp.StreamNotFound().setStreamIdentifier(toIdentifier(name));
      return outlet.write(new streamsPb.ReadResp().setStreamNotFound(missing));
    }
    for (const event of events) await outlet.write(toReadResponse(event));
  }

  async function answerAll(options: ReadReq.Options, outlet: Outlet): Promise<void> {
    let left = Number(options.getCount());
    if (left <= 0) return;
    for await (const event of allEvents(options)) {
      await outlet.write(toReadResponse(event));
      if (--left <= 0) return;
    }
  }

  /** Forwards a position is included, backwards it is not: it lies between two events, before the one it names. */
  async function* allEvents(options: ReadReq.Options) {
    const all = options.getAll();
    const position = all?.getPosition()?.getCommitPosition();
    const from = position === undefined ? undefined : fromLogPosition(position);
    if (isBackwards(options)) {
      if (all?.hasStart() !== true) yield* eventsBackwards(streams.store, from);
    } else if (all?.hasEnd() !== true) {
      const after = from === undefined ? undefined : previous(from);
      yield* eventsUntil(streams.store, after, await streams.store.head(), ['']);
    }
  }
}

function isBackwards(options: ReadReq.Options): boolean {
  return options.getReadDirection() === streamsPb.ReadReq.Options.ReadDirection.BACKWARDS;
}
