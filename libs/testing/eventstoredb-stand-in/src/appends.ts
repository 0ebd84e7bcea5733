import { setImmediate } from 'node:timers/promises';
import sharedPb from '@eventstore/db-client/generated/shared_pb.js';
import streamsPb, {
  type AppendReq,
  type AppendResp,
  type BatchAppendReq,
  type BatchAppendResp,
  type DeleteReq,
  type DeleteResp,
  type TombstoneReq,
  type TombstoneResp,
} from '@eventstore/db-client/generated/streams_pb.js';
import type {
  handleBidiStreamingCall,
  handleClientStreamingCall,
  handleUnaryCall,
  ServerDuplexStream,
} from '@grpc/grpc-js';
import type { AppendResult } from '@tracking/ports';
import { findNodeRoleRefusal, type NodeRole } from './gate.ts';
import { toAppendErrorStatus, toGrpcErrorOfStandInNode } from './errors.ts';
import type { FaultSwitches } from './faults.ts';
import {
  type AppendExpectedRevision,
  RequestRefusedError,
  createStreamIdentifier,
  toProtocolLogPosition,
  toNewEvent,
} from './records.ts';
import type { StandInStreamStore } from './stream-store.ts';

/** An append whose request is still being received. */
interface IncomingAppend {
  readonly stream: string;
  readonly expected: AppendExpectedRevision;
  readonly proposed: (AppendReq.ProposedMessage | BatchAppendReq.ProposedMessage)[];
}

async function appendProposedEvents(
  streams: StandInStreamStore,
  faults: FaultSwitches,
  { stream, expected, proposed }: IncomingAppend,
): Promise<AppendResult> {
  const result = await streams.appendEvents(stream, expected, proposed.map(toNewEvent));
  faults.injectFaultsAfterAppend();
  return result;
}

/** Handles the call `Append`, which carries one append. */
export function createAppendCallHandler(
  streams: StandInStreamStore,
  faults: FaultSwitches,
): handleClientStreamingCall<AppendReq, AppendResp> {
  return (call, callback) => {
    let incoming: IncomingAppend | undefined;
    call.on('data', (request: AppendReq) => {
      const options = request.getOptions();
      const message = request.getProposedMessage();
      if (options !== undefined)
        incoming = createIncomingAppendWithoutEvents(
          options,
          options.hasRevision() ? options.getRevision() : undefined,
        );
      if (message !== undefined) incoming?.proposed.push(message);
    });
    call.on('end', async () => {
      // Like a real node, the stand-in stores nothing of an interrupted call. The end of such a call is reported before
      // its cancellation.
      await setImmediate();
      if (incoming === undefined || call.cancelled) return;
      appendProposedEvents(streams, faults, incoming)
        .then(createAppendSuccessResponse, toAppendConflictResponse)
        .then(
          async (response) => {
            await faults.waitWhileNodeHangs();
            callback(null, response);
          },
          (error: unknown) => callback(toGrpcErrorOfStandInNode(error)),
        );
    });
  };
}

/**
 * Returns the handler of the call `BatchAppend`, which carries any number of appends.
 * @param getRole returns the role of the node
 */
export function createBatchAppendCallHandler(
  streams: StandInStreamStore,
  faults: FaultSwitches,
  getRole: () => NodeRole,
): handleBidiStreamingCall<BatchAppendReq, BatchAppendResp> {
  return (call) => {
    const pending = new Map<string, IncomingAppend>();
    const requiresLeader = call.metadata.get('requires-leader')[0] === 'true';
    const { batchCallMutings } = faults;
    call.on('data', async (request: BatchAppendReq) => {
      if (faults.batchCallMutings > batchCallMutings) return;
      const key = request.getCorrelationId()?.getString() ?? '';
      const options = request.getOptions();
      if (options !== undefined) {
        pending.set(
          key,
          createIncomingAppendWithoutEvents(
            options,
            options.hasStreamPosition() ? options.getStreamPosition() : undefined,
          ),
        );
      }
      const incoming = pending.get(key);
      for (const message of request.getProposedMessagesList()) incoming?.proposed.push(message);
      if (incoming === undefined || !request.getIsFinal()) return;
      pending.delete(key);
      await faults.waitWhileFrozen();
      if (call.cancelled) return;
      // The role can change during the call. A node that is no longer the leader ends the call.
      const refusal = findNodeRoleRefusal(getRole(), requiresLeader);
      if (refusal === undefined) await respondToBatchAppend(call, request, incoming);
      else call.emit('error', refusal);
    });
    call.on('end', () => call.end());
  };

  async function respondToBatchAppend(
    call: ServerDuplexStream<BatchAppendReq, BatchAppendResp>,
    request: BatchAppendReq,
    incoming: IncomingAppend,
  ): Promise<void> {
    const response = new streamsPb.BatchAppendResp()
      .setCorrelationId(request.getCorrelationId())
      .setStreamIdentifier(createStreamIdentifier(incoming.stream));
    let answers = 1;
    try {
      const { revision, position } = await appendProposedEvents(streams, faults, incoming);
      const logPosition = toProtocolLogPosition(position);
      const at = new sharedPb.AllStreamPosition().setCommitPosition(logPosition).setPreparePosition(logPosition);
      response.setSuccess(new streamsPb.BatchAppendResp.Success().setCurrentRevision(String(revision)).setPosition(at));
    } catch (error) {
      response.setError(toAppendErrorStatus(error));
      // The client of a real node gets an error, then crashes because of a second response that it does not expect. The
      // stand-in does the same.
      if (error instanceof RequestRefusedError && error.reason.kind === 'bad_request') answers = 2;
    }
    await faults.waitWhileNodeHangs();
    for (let count = 0; count < answers && !call.destroyed; count += 1) call.write(response);
  }
}

function createIncomingAppendWithoutEvents(
  options: AppendReq.Options | BatchAppendReq.Options,
  revision: string | undefined,
): IncomingAppend {
  const stream = Buffer.from(options.getStreamIdentifier()?.getStreamName_asU8() ?? []).toString();
  return { stream, expected: parseExpectedRevision(options, revision), proposed: [] };
}

/** @param revision the revision that the client expects, if any; each request type has its own field for it */
function parseExpectedRevision(
  options: { hasNoStream(): boolean; hasStreamExists(): boolean },
  revision: string | undefined,
): AppendExpectedRevision {
  if (revision !== undefined) return Number(revision);
  if (options.hasNoStream()) return 'no_stream';
  return options.hasStreamExists() ? 'stream_exists' : 'any';
}

function createAppendSuccessResponse({ revision, position }: AppendResult): AppendResp {
  const logPosition = toProtocolLogPosition(position);
  const at = new streamsPb.AppendResp.Position().setCommitPosition(logPosition).setPreparePosition(logPosition);
  const stored = new streamsPb.AppendResp.Success().setCurrentRevision(String(revision)).setPosition(at);
  return new streamsPb.AppendResp().setSuccess(stored);
}

/** Converts a conflict, which is the only refusal that is a response. All other refusals end the call. */
function toAppendConflictResponse(error: unknown): AppendResp {
  if (!(error instanceof RequestRefusedError) || error.reason.kind !== 'wrong_expected_version') throw error;
  const { expected, current } = error.reason;
  const conflict = new streamsPb.AppendResp.WrongExpectedVersion();
  if (current === undefined) conflict.setCurrentNoStream(new sharedPb.Empty());
  else conflict.setCurrentRevision(String(current));
  if (expected === 'any') conflict.setExpectedAny(new sharedPb.Empty());
  else if (expected === 'no_stream') conflict.setExpectedNoStream(new sharedPb.Empty());
  else if (expected === 'stream_exists') conflict.setExpectedStreamExists(new sharedPb.Empty());
  else conflict.setExpectedRevision(String(expected));
  return new streamsPb.AppendResp().setWrongExpectedVersion(conflict);
}

/** Handles the calls `Delete` and `Tombstone`. */
export function createDeleteCallHandlers(streams: StandInStreamStore, faults: FaultSwitches) {
  async function deleteStream(options: DeleteReq.Options | TombstoneReq.Options | undefined, tombstone: boolean) {
    const stream = Buffer.from(options?.getStreamIdentifier()?.getStreamName_asU8() ?? []).toString();
    const revision = options?.hasRevision() ? options.getRevision() : undefined;
    const { position } = await streams.deleteStream(
      stream,
      options ? parseExpectedRevision(options, revision) : 'any',
      tombstone,
    );
    await faults.waitWhileNodeHangs();
    return toProtocolLogPosition(position);
  }

  const softDelete: handleUnaryCall<DeleteReq, DeleteResp> = (call, callback) => {
    deleteStream(call.request.getOptions(), false).then(
      (at) => {
        const position = new streamsPb.DeleteResp.Position().setCommitPosition(at).setPreparePosition(at);
        callback(null, new streamsPb.DeleteResp().setPosition(position));
      },
      (error: unknown) => callback(toGrpcErrorOfStandInNode(error)),
    );
  };

  const tombstone: handleUnaryCall<TombstoneReq, TombstoneResp> = (call, callback) => {
    deleteStream(call.request.getOptions(), true).then(
      (at) => {
        const position = new streamsPb.TombstoneResp.Position().setCommitPosition(at).setPreparePosition(at);
        callback(null, new streamsPb.TombstoneResp().setPosition(position));
      },
      (error: unknown) => callback(toGrpcErrorOfStandInNode(error)),
    );
  };

  return { delete: softDelete, tombstone };
}
