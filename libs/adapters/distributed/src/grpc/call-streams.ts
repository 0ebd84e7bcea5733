import { type Client, type ClientDuplexStream, Metadata, type ServiceError, status } from '@grpc/grpc-js';
import type { CausingRequest } from '@tracking/ports';
import { monotonicMs } from '@tracking/resilience';
import { selectReplica, type SelectedReplica, addReplicaNameToCall } from './replica-balancer.ts';
import type { AnswerBatch, OperationAnswerMessage, CallBatch, CallMessage, LoadedProto } from './service-protos.ts';

/** Maximum characters of a request's JSON in a stream. Larger requests would delay others. */
export const MAX_STREAMED_JSON_LENGTH = 16_384;
/** Bytes of requests after which a batch is sent immediately. */
const MAX_BATCH_BYTES = 1_048_576;
/** Milliseconds without new streams to a replica that does not have them, because its release is older. */
const PAUSE_IF_CALL_STREAMS_UNSUPPORTED_MS = 60_000;
/** Milliseconds without new streams to a replica that is stopping. Its connection ends within this time. */
const NO_NEW_STREAMS_TO_STOPPING_REPLICA_MS = 1_000;

/** The call was certainly not started. */
export class CallNotStartedError extends Error {
  override readonly name = 'CallNotStarted';
}

interface CallStreamsOptions {
  readonly client: Client;
  readonly rpc: LoadedProto['callStream'];
  /** Name of the channel, by which its replicas are found. */
  readonly channelName: string;
  /** Adds the token of the service. */
  readonly addToken: (metadata: Metadata) => void;
  /** Milliseconds after which a stream is replaced, so that connections can be renewed. */
  readonly maxAgeMs: number;
}

/** A request to one replica. */
export interface RequestSentOverGrpcStream {
  /** Name of the rpc in log lines. */
  readonly method: string;
  readonly request: Buffer;
  readonly routingKey: string;
  readonly origin: CausingRequest | undefined;
  readonly timeoutMs: number;
}

/**
 * Calls operations over long streams, one for each replica. Calls that start in one turn of the event loop share a
 * message.
 */
export class StreamedOperationCaller {
  private readonly streams = new Map<string, ReplicaCallStream>();
  /** Times until which replicas get no new streams, by the name of the replica. */
  private readonly pauses = new Map<string, number>();

  constructor(private readonly options: CallStreamsOptions) {}

  /**
   * Calls an operation. Rejects with a gRPC status: `UNAVAILABLE` if the stream was lost, so that the outcome is
   * unknown, and `DEADLINE_EXCEEDED` after the timeout.
   * @throws CallNotStartedError if no stream can carry the call
   */
  async callReplicaOperationOverStream(request: RequestSentOverGrpcStream): Promise<OperationAnswerMessage> {
    const replica = selectReplica(this.options.channelName, request.routingKey);
    if (replica === undefined) throw new CallNotStartedError();
    return this.findOrOpenCallStream(replica).sendCallOverStream(request, replica.trackRunningRequestUntilEnd());
  }

  /** Ends all streams. Calls without an answer fail. */
  closeAllOperationStreams(): void {
    for (const stream of this.streams.values()) stream.cancelCallStream();
  }

  private findOrOpenCallStream(replica: SelectedReplica): ReplicaCallStream {
    const { name } = replica;
    const now = monotonicMs();
    const stream = this.streams.get(name);
    if (stream !== undefined && stream.endsAt > now) return stream;
    stream?.endStreamOnceCallsAnswered();
    if ((this.pauses.get(name) ?? 0) > now) throw new CallNotStartedError();
    const opened = this.openStream(name, now);
    this.streams.set(name, opened);
    return opened;
  }

  private openStream(name: string, now: number): ReplicaCallStream {
    const { client, rpc, addToken, maxAgeMs } = this.options;
    const metadata = new Metadata();
    addToken(metadata);
    addReplicaNameToCall(metadata, name);
    const call = client.makeBidiStreamRequest<CallBatch, AnswerBatch>(
      rpc.path,
      rpc.requestSerialize,
      rpc.responseDeserialize as (bytes: Buffer) => AnswerBatch,
      metadata,
    );
    const stream = new ReplicaCallStream(call, now + maxAgeMs, (pauseMs) => {
      if (this.streams.get(name) === stream) this.streams.delete(name);
      if (pauseMs > 0) this.pauses.set(name, monotonicMs() + pauseMs);
    });
    return stream;
  }
}

/** Settles a call that has no answer yet. */
interface PendingCall {
  readonly answer: (answer: OperationAnswerMessage) => void;
  readonly fail: (error: Error) => void;
}

/** A stream of calls to one replica. */
class ReplicaCallStream {
  private readonly pending = new Map<number, PendingCall>();
  private calls: CallMessage[] = [];
  private cancelled: number[] = [];
  private bytes = 0;
  private lastId = 0;
  /** Number of messages from the replica so far. */
  private received = 0;
  private isFlushScheduled = false;
  private isEnding = false;

  /**
   * @param endsAt time of the monotonic clock after which another stream replaces this one
   * @param onUnusable called when the stream takes no further calls, with the milliseconds without new streams
   */
  constructor(
    private readonly stream: ClientDuplexStream<CallBatch, AnswerBatch>,
    readonly endsAt: number,
    private readonly onUnusable: (pauseMs: number) => void,
  ) {
    stream.on('data', (batch: AnswerBatch) => this.receiveAnswers(batch));
    stream.on('end', () => this.failPendingCalls(createStatusError(status.UNAVAILABLE, 'the stream of calls ended')));
    stream.on('error', ({ code, details }: ServiceError) => {
      const isUnsupported = code === status.UNIMPLEMENTED;
      this.failPendingCalls(isUnsupported ? new CallNotStartedError() : createStatusError(code, details));
      if (isUnsupported) this.onUnusable(PAUSE_IF_CALL_STREAMS_UNSUPPORTED_MS);
    });
  }

  /** @param endRequest called when the call has ended */
  sendCallOverStream(
    { method, request, origin, timeoutMs }: RequestSentOverGrpcStream,
    endRequest: (isAnswered: boolean) => void,
  ): Promise<OperationAnswerMessage> {
    this.lastId += 1;
    const id = this.lastId;
    const { promise, resolve, reject } = Promise.withResolvers<OperationAnswerMessage>();
    const end = (isAnswered: boolean) => {
      clearTimeout(timer);
      this.pending.delete(id);
      endRequest(isAnswered);
    };
    const fail = (error: Error) => {
      end(false);
      reject(error);
    };
    const { received } = this;
    const timer = setTimeout(() => {
      fail(createStatusError(status.DEADLINE_EXCEEDED, 'the call did not end in time'));
      // A replica that hung would read a message with the cancellation only after it has started the call.
      if (this.received === received) this.cancelCallStream();
      else {
        this.cancelled.push(id);
        this.scheduleFlush();
      }
    }, timeoutMs);
    const answer = (message: OperationAnswerMessage) => {
      end(true);
      resolve(message);
    };
    this.pending.set(id, { answer, fail });
    this.calls.push({ id, method, request, ...(origin && { origin }) });
    this.bytes += request.length;
    if (this.bytes > MAX_BATCH_BYTES) this.flush();
    else this.scheduleFlush();
    return promise;
  }

  /** Sends what is waiting, and ends the stream. Calls in progress are still answered. */
  endStreamOnceCallsAnswered(): void {
    if (this.isEnding) return;
    this.flush();
    this.isEnding = true;
    this.stream.end();
    this.onUnusable(0);
  }

  /** Ends the stream. The replica starts none of its calls that it has not started yet. */
  cancelCallStream(): void {
    this.failPendingCalls(createStatusError(status.CANCELLED, 'the stream of calls was canceled'));
    this.stream.cancel();
  }

  private scheduleFlush(): void {
    if (this.isFlushScheduled) return;
    this.isFlushScheduled = true;
    setImmediate(() => this.flush());
  }

  private flush(): void {
    this.isFlushScheduled = false;
    const { calls, cancelled } = this;
    if (this.isEnding || calls.length + cancelled.length === 0) return;
    this.calls = [];
    this.cancelled = [];
    this.bytes = 0;
    this.stream.write({ calls, cancelled });
  }

  private receiveAnswers({ answers = [], refused = [], stopping }: AnswerBatch): void {
    this.received += 1;
    for (const { id, answer = {} } of answers) this.pending.get(id)?.answer(answer);
    for (const id of refused) this.pending.get(id)?.fail(new CallNotStartedError());
    if (stopping !== true) return;
    this.endStreamOnceCallsAnswered();
    this.onUnusable(NO_NEW_STREAMS_TO_STOPPING_REPLICA_MS);
  }

  private failPendingCalls(error: Error): void {
    this.isEnding = true;
    this.onUnusable(0);
    for (const { fail } of this.pending.values()) fail(error);
  }
}

function createStatusError(code: status, details: string): Error {
  return Object.assign(new Error(details), { code, details });
}
