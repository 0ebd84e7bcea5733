import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ServerDuplexStream } from '@grpc/grpc-js';
import type { CausingRequest } from '@tracking/ports';
import type {
  AnswerBatch,
  OperationAnswerMessage,
  CallBatch,
  CallMessage,
  ProtoOperation,
  GrpcRequestMessage,
} from './service-protos.ts';

/** Bytes of answers in one message. A larger answer is sent alone. */
const MAX_BATCH_BYTES = 1_048_576;

interface CallStreamHandlerOptions {
  /** Operations by the name of their rpc in log lines. */
  readonly rpcs: ReadonlyMap<string, ProtoOperation>;
  /** Performs a call. Never rejects. */
  readonly answerCall: (
    method: string,
    request: GrpcRequestMessage,
    origin: Partial<CausingRequest>,
  ) => Promise<OperationAnswerMessage>;
  /** Number of turns of the event loop between the arrival and the start of calls. */
  readonly turnsBeforeStart: number;
}

/** Responds to the calls of all streams of a server. */
export class CallStreamHandler {
  private readonly streams = new Set<ServedStream>();
  private isStopping = false;

  constructor(private readonly options: CallStreamHandlerOptions) {}

  serveCallStream(call: ServerDuplexStream<CallBatch, AnswerBatch>): void {
    const stream = new ServedStream(call, this.options);
    this.streams.add(stream);
    for (const event of ['close', 'cancelled']) call.on(event, () => this.streams.delete(stream));
    if (this.isStopping) stream.stopAcceptingCalls();
  }

  /** Starts no further calls. Their callers use other replicas. */
  stopAcceptingCalls(): void {
    this.isStopping = true;
    for (const stream of this.streams) stream.stopAcceptingCalls();
  }
}

class ServedStream {
  /** Calls that have not started. */
  private readonly waiting = new Map<number, CallMessage>();
  private answers: { readonly id: number; readonly answer: OperationAnswerMessage }[] = [];
  private bytes = 0;
  /** Number of calls without an answer. */
  private unanswered = 0;
  private isStopping = false;
  private hasCallerEnded = false;

  constructor(
    private readonly call: ServerDuplexStream<CallBatch, AnswerBatch>,
    private readonly options: CallStreamHandlerOptions,
  ) {
    call.on('data', (batch: CallBatch) => void this.receiveStreamedCallBatch(batch));
    call.on('end', () => {
      this.hasCallerEnded = true;
      this.endStreamIfAllAnswered();
    });
    // The caller repeats its calls when the stream is lost.
    call.on('error', () => undefined);
  }

  stopAcceptingCalls(): void {
    this.isStopping = true;
    this.call.write({ stopping: true });
  }

  private async receiveStreamedCallBatch({ calls = [], cancelled = [] }: CallBatch): Promise<void> {
    for (const id of cancelled) if (this.waiting.delete(id)) this.markCallAnswered();
    if (calls.length === 0) return;
    if (this.isStopping) {
      this.call.write({ refused: calls.map(({ id }) => id) });
      return;
    }
    this.unanswered += calls.length;
    for (const call of calls) this.waiting.set(call.id, call);
    for (let turn = 0; turn < this.options.turnsBeforeStart; turn += 1) await nextTurn();
    if (this.call.cancelled) return;
    for (const { id } of calls) void this.startServedStream(id);
  }

  private async startServedStream(id: number): Promise<void> {
    const call = this.waiting.get(id);
    if (call === undefined) return;
    this.waiting.delete(id);
    const answer = await this.answerStreamedCall(call);
    const bytes = answer.json?.length ?? 0;
    if (this.answers.length > 0 && this.bytes + bytes > MAX_BATCH_BYTES) this.flush();
    if (this.answers.length === 0) setImmediate(() => this.flush());
    this.answers.push({ id, answer });
    this.bytes += bytes;
    this.markCallAnswered();
  }

  private async answerStreamedCall({ method, request, origin }: CallMessage): Promise<OperationAnswerMessage> {
    const { rpcs, answerCall } = this.options;
    const rpc = rpcs.get(method);
    if (rpc === undefined) return { failed: `this process does not have the operation ${method}` };
    try {
      return await answerCall(method, rpc.deserializeRequest(request), origin ?? {});
    } catch {
      return { failed: `the request of ${method} is invalid` };
    }
  }

  private flush(): void {
    const { answers } = this;
    if (answers.length === 0) return;
    this.answers = [];
    this.bytes = 0;
    if (!this.call.destroyed) this.call.write({ answers });
  }

  private markCallAnswered(): void {
    this.unanswered -= 1;
    this.endStreamIfAllAnswered();
  }

  private endStreamIfAllAnswered(): void {
    if (!this.hasCallerEnded || this.unanswered > 0) return;
    this.flush();
    this.call.end();
  }
}
