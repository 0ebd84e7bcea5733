import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import type { Position as LogPosition } from '@eventstore/db-client';
import type { Client, ClientDuplexStream } from '@grpc/grpc-js';
import { loadSync, type MessageTypeDefinition, type ServiceDefinition } from '@grpc/proto-loader';
import { type ExpectedRevision, type NewEvent, UnavailableError, VersionConflictError } from '@tracking/ports';
import { createNodeTimeoutError, ENGINE_NAME, type EventStoreDbNodeConnection } from './node-connection.ts';

/** An append of events to a stream. */
export interface AppendRequest {
  readonly stream: string;
  readonly expected: ExpectedRevision;
  readonly events: readonly NewEvent[];
  /** Data and metadata of each event, as JSON in UTF-8. */
  readonly encoded: readonly { readonly data: Buffer; readonly metadata: Buffer }[];
}

export interface NodeAppendResult {
  readonly revision: number;
  /** Absent if the node does not report the position of a repeated append. */
  readonly position: LogPosition | undefined;
}

const STREAMS_PROTO_PACKAGE = 'event_store.client.streams';
const VERSION_CONFLICT_ERROR_TYPE = 'event_store.client.WrongExpectedVersion';
/** gRPC status of a call that a node older than 21.10 does not have. */
const UNIMPLEMENTED_STATUS = 12;

const BATCH_APPEND_PROTO = loadSync(fileURLToPath(new URL('batch-append.proto', import.meta.url)), {
  keepCase: true,
  longs: String,
});
const { BatchAppend: METHOD } = BATCH_APPEND_PROTO[`${STREAMS_PROTO_PACKAGE}.Streams`] as ServiceDefinition & {
  readonly BatchAppend: ServiceDefinition[string];
};
const WRONG_VERSION_MESSAGE_DEFINITION = BATCH_APPEND_PROTO[
  `${STREAMS_PROTO_PACKAGE}.WrongExpectedVersion`
] as MessageTypeDefinition<object, { readonly current_stream_revision?: string; readonly current_no_stream?: object }>;

/** Response to one append. */
interface BatchAppendResponse {
  readonly correlation_id?: { readonly string: string };
  readonly success?: {
    readonly current_revision?: string;
    readonly position?: { readonly commit_position: string; readonly prepare_position: string };
  };
  readonly error?: {
    readonly message: string;
    readonly details?: { readonly type_url: string; readonly value: Buffer };
  };
}

/** A call to one node that carries any number of appends. */
interface BatchAppendCall {
  readonly client: Client;
  readonly stream: ClientDuplexStream<object, BatchAppendResponse>;
  /** Appends without a response, by correlation id. */
  readonly pending: Map<string, PromiseWithResolvers<BatchAppendResponse>>;
  /** Number of responses so far. */
  responses: number;
}

/**
 * Sends appends to a node over one long call, which costs less CPU time than one call for each append. If the call ends,
 * all its appends without a response fail with `UnavailableError`, and the next append starts another call. A call that
 * sends no response at all until an append times out is canceled.
 */
export class BatchAppendSender {
  private current: BatchAppendCall | undefined;
  private readonly open = new Set<BatchAppendCall>();
  private isSupported = true;

  /** @param callOptions options of the client for each call */
  constructor(
    private readonly connection: EventStoreDbNodeConnection,
    private readonly callOptions: object,
  ) {}

  /** False if the node does not have the call. */
  get canAppend(): boolean {
    return this.isSupported;
  }

  /**
   * Appends events with the next messages of the call.
   * @throws VersionConflictError; UnavailableError if the outcome is unknown, or if the node refuses the append
   */
  async appendToStream(request: AppendRequest, timeoutMs: number): Promise<NodeAppendResult> {
    const id = randomUUID();
    const answer = Promise.withResolvers<BatchAppendResponse>();
    let call: BatchAppendCall | undefined;
    let earlierResponses = 0;
    let isAbandoned = false;
    const send = async () => {
      call = await this.findOrStartBatchAppendCall();
      // Otherwise the append could be sent after its repetition.
      if (isAbandoned) throw createNodeTimeoutError();
      call.pending.set(id, answer);
      earlierResponses = call.responses;
      call.stream.write(toAppendRequestMessage(id, request));
      return answer.promise;
    };
    try {
      return parseBatchAppendResponse(await this.connection.awaitAnswerWithTimeout(send(), timeoutMs), request);
    } finally {
      isAbandoned = true;
      // A call can be stuck although the node answers other calls.
      if (call?.responses === earlierResponses) this.cancelBatchAppendCall(call);
      call?.pending.delete(id);
    }
  }

  /** Ends all calls. Appends without a response fail. */
  endCalls(): void {
    for (const call of this.open) this.cancelBatchAppendCall(call);
  }

  private async findOrStartBatchAppendCall(): Promise<BatchAppendCall> {
    // A lost node's client is replaced. The former call ends when the node has answered its appends.
    const client = await this.connection.getGrpcClient();
    if (this.current?.client === client) return this.current;
    this.current?.stream.end();
    this.current = this.startBatchAppendCall(client);
    return this.current;
  }

  private startBatchAppendCall(client: Client): BatchAppendCall {
    const { path, requestSerialize, responseDeserialize } = METHOD;
    const [metadata, options] = this.connection.createCallArgumentsWithoutDeadline(this.callOptions);
    const stream = client.makeBidiStreamRequest<object, BatchAppendResponse>(
      path,
      requestSerialize,
      responseDeserialize as (bytes: Buffer) => BatchAppendResponse,
      metadata,
      options,
    );
    const call: BatchAppendCall = { client, stream, pending: new Map(), responses: 0 };
    this.open.add(call);
    stream.on('data', (response: BatchAppendResponse) => {
      call.responses += 1;
      call.pending.get(response.correlation_id?.string ?? '')?.resolve(response);
    });
    stream.on('end', () => this.endBatchAppendCall(call));
    stream.on('error', (error: Error & { readonly code?: number }) => {
      if (error.code === UNIMPLEMENTED_STATUS) this.isSupported = false;
      // An error after `cancelBatchAppendCall` says nothing about the node.
      if (this.open.has(call)) this.connection.findNewNodeAfterCallError(client, error);
      this.endBatchAppendCall(call);
    });
    return call;
  }

  private cancelBatchAppendCall(call: BatchAppendCall): void {
    this.endBatchAppendCall(call);
    call.stream.cancel();
  }

  private endBatchAppendCall(call: BatchAppendCall): void {
    this.open.delete(call);
    if (this.current === call) this.current = undefined;
    for (const { reject } of call.pending.values())
      reject(new UnavailableError(ENGINE_NAME, 'the batch of appends ended'));
  }
}

function toAppendRequestMessage(id: string, { stream, expected, events, encoded }: AppendRequest): object {
  return {
    correlation_id: { string: id },
    options: {
      stream_identifier: { stream_name: Buffer.from(stream) },
      ...(expected === 'no_stream' ? { no_stream: {} } : { stream_position: expected }),
    },
    proposed_messages: events.map((event, index) => ({
      id: { string: event.id },
      metadata: { type: event.type, 'content-type': 'application/json' },
      custom_metadata: encoded[index]?.metadata,
      data: encoded[index]?.data,
    })),
    is_final: true,
  };
}

function parseBatchAppendResponse(
  { success, error }: BatchAppendResponse,
  { stream, expected }: AppendRequest,
): NodeAppendResult {
  if (success !== undefined) {
    const { current_revision: revision = '0', position } = success;
    return {
      revision: Number(revision),
      position: position && {
        commit: BigInt(position.commit_position),
        prepare: BigInt(position.prepare_position),
      },
    };
  }
  if (error?.details?.type_url.endsWith(VERSION_CONFLICT_ERROR_TYPE) === true) {
    const { current_stream_revision: actual, current_no_stream } = WRONG_VERSION_MESSAGE_DEFINITION.deserialize(
      error.details.value,
    );
    throw new VersionConflictError(stream, expected, current_no_stream ? 'no_stream' : Number(actual ?? 0));
  }
  throw new UnavailableError(ENGINE_NAME, 'the node refused an append of a batch');
}
