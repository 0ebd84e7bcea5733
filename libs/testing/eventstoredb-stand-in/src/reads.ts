import streamsPb, { type ReadReq, type ReadResp } from '@eventstore/db-client/generated/streams_pb.js';
import type { handleServerStreamingCall } from '@grpc/grpc-js';
import type { FaultSwitches } from './faults.ts';
import {
  readEventsBackwards,
  readEventsUpToPosition,
  toPositionBefore,
  type StandInStreamStore,
} from './stream-store.ts';
import { GrpcReadResponseStream, sendSubscribedEvents, type SubscriptionLimits } from './subscribe.ts';
import { toStorePosition, createStreamIdentifier, toReadResponse } from './records.ts';

/** Handles the call `Read`, which reads one stream or all streams, once or as a subscription. */
export function createReadCallHandler(
  streams: StandInStreamStore,
  faults: FaultSwitches,
  limits: SubscriptionLimits,
): handleServerStreamingCall<ReadReq, ReadResp> {
  return (call) => {
    const responses = new GrpcReadResponseStream(call);
    respondToRead(call.request.getOptions() ?? new streamsPb.ReadReq.Options(), responses).then(
      () => responses.endResponseStream(),
      (error: unknown) => responses.failResponseStream(error),
    );
  };

  async function respondToRead(options: ReadReq.Options, responses: GrpcReadResponseStream): Promise<void> {
    await faults.waitWhileNodeHangs();
    if (options.hasSubscription())
      return sendSubscribedEvents({ store: streams.store, faults, limits, options, responses });
    const stream = options.getStream();
    return stream === undefined
      ? respondWithEventsOfAllStreams(options, responses)
      : respondWithEventsOfStream(stream, options, responses);
  }

  async function respondWithEventsOfStream(
    stream: ReadReq.Options.StreamOptions,
    options: ReadReq.Options,
    responses: GrpcReadResponseStream,
  ) {
    const backwards = isReadBackwards(options);
    const start = backwards ? undefined : 0;
    const from = stream.hasRevision() ? Number(stream.getRevision()) : stream.hasEnd() ? undefined : start;
    const name = Buffer.from(stream.getStreamIdentifier()?.getStreamName_asU8() ?? []).toString();
    const events = await streams.readStream(name, { from, count: Number(options.getCount()), backwards });
    if (events === undefined) {
      const missing = new streamsPb.ReadResp.StreamNotFound().setStreamIdentifier(createStreamIdentifier(name));
      return responses.sendStreamMessage(new streamsPb.ReadResp().setStreamNotFound(missing));
    }
    for (const event of events) await responses.sendStreamMessage(toReadResponse(event));
  }

  async function respondWithEventsOfAllStreams(
    options: ReadReq.Options,
    responses: GrpcReadResponseStream,
  ): Promise<void> {
    let left = Number(options.getCount());
    if (left <= 0) return;
    for await (const event of readEventsOfAllStreamRequest(options)) {
      await responses.sendStreamMessage(toReadResponse(event));
      if (--left <= 0) return;
    }
  }

  /**
   * Forward reads include the event at the position. Backward reads exclude it, because a position lies just before its
   * event.
   */
  async function* readEventsOfAllStreamRequest(options: ReadReq.Options) {
    const all = options.getAll();
    const position = all?.getPosition()?.getCommitPosition();
    const from = position === undefined ? undefined : toStorePosition(position);
    if (isReadBackwards(options)) {
      if (all?.hasStart() !== true) yield* readEventsBackwards(streams.store, from);
    } else if (all?.hasEnd() !== true) {
      const after = from === undefined ? undefined : toPositionBefore(from);
      yield* readEventsUpToPosition(streams.store, after, await streams.store.head(), ['']);
    }
  }
}

function isReadBackwards(options: ReadReq.Options): boolean {
  return options.getReadDirection() === streamsPb.ReadReq.Options.ReadDirection.BACKWARDS;
}
