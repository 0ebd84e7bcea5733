import streamsPb, {
  type DeleteReq,
  type DeleteResp,
  type TombstoneReq,
  type TombstoneResp,
} from '@eventstore/db-client/generated/streams_pb.js';
import type { handleUnaryCall } from '@grpc/grpc-js';
import { expectedOf } from './appends.ts';
import { toServiceError } from './errors.ts';
import type { FaultSwitches } from './faults.ts';
import { toLogPosition } from './records.ts';
import type { StreamStore } from './stream-store.ts';

/** The calls `Delete` and `Tombstone`. */
export function deleteCalls(streams: StreamStore, faults: FaultSwitches) {
  async function perform(options: DeleteReq.Options | TombstoneReq.Options | undefined, tombstone: boolean) {
    const stream = Buffer.from(options?.getStreamIdentifier()?.getStreamName_asU8() ?? []).toString();
    const revision = options?.hasRevision() ? options.getRevision() : undefined;
    const { position } = await streams.delete(stream, options ? expectedOf(options, revision) : 'any', tombstone);
    await faults.passGate();
    return toLogPosition(position);
  }

  const softly: handleUnaryCall<DeleteReq, DeleteResp> = (call, callback) => {
    perform(call.request.getOptions(), false).then(
      (at) => {
        const position = new streamsPb.DeleteResp.Position().setCommitPosition(at).setPreparePosition(at);
        callback(null, new streamsPb.DeleteResp().setPosition(position));
      },
      (error: unknown) => callback(toServiceError(error)),
    );
  };

  const tombstone: handleUnaryCall<TombstoneReq, TombstoneResp> = (call, callback) => {
    perform(call.request.getOptions(), true).then(
      (at) => {
        const position = new streamsPb.TombstoneResp.Position().setCommitPosition(at).setPreparePosition(at);
        callback(null, new streamsPb.TombstoneResp().setPosition(position));
      },
      (error: unknown) => callback(toServiceError(error)),
    );
  };

  return { delete: softly, tombstone };
}
