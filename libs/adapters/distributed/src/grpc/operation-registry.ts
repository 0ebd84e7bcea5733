import { type Logger, type CausingRequest, toOriginLogFields } from '@tracking/ports';
import type { GrpcLimits } from './grpc-options.ts';
import type { SendMessage } from './message-stream.ts';
import { RunningGrpcCalls } from './running-calls.ts';
import {
  type OperationAnswerMessage,
  type LoadedProto,
  type Parts,
  parseGrpcRequest,
  type GrpcRequestMessage,
  toGrpcAnswerMessage,
  convertErrorToGrpcAnswerMessage,
} from './service-protos.ts';

/** An operation. The listener and the signal are only for streamed operations. */
type Operation = (request: object, onMessage?: SendMessage, signal?: AbortSignal) => Promise<unknown>;
type ByName<T> = Readonly<Record<string, T | undefined>>;

/** Registry of the operations of this process and their running calls. */
export class OperationRegistry {
  /** Registered values by the name of their rpc. */
  private readonly operations = new Map<string, Operation>();
  private readonly running: RunningGrpcCalls;
  private readonly streams = new Set<AbortController>();

  constructor(
    private readonly loaded: LoadedProto,
    private readonly limits: GrpcLimits,
    private readonly logger: Logger,
  ) {
    this.running = new RunningGrpcCalls(limits);
  }

  get depth(): number {
    return this.running.count;
  }

  /**
   * Registers the operations of this process. @throws Error if the .proto file declares an operation that is missing
   */
  registerOperations<T extends Parts<T>>(parts: T): void {
    const served = parts as unknown as ByName<ByName<Operation>>;
    for (const { name, rpcs } of this.loaded.parts) {
      const part = served[name];
      for (const rpc of rpcs) {
        const operation = part?.[rpc.operation];
        if (operation === undefined) throw new Error(`${rpc.name} is not an operation of ${this.loaded.proto.name}`);
        this.operations.set(rpc.name, operation.bind(part));
      }
    }
  }

  /** Performs one call. Never rejects. @param name name of the rpc */
  async executeGrpcOperationCall(
    name: string,
    request: GrpcRequestMessage,
    origin: Partial<CausingRequest>,
  ): Promise<OperationAnswerMessage> {
    const bytes = Buffer.byteLength(request.json ?? '');
    return this.running.countRunningGrpcCall(this.runGrpcOperationAndLogOutcome(name, request, origin, bytes), bytes);
  }

  /**
   * Runs a streamed operation. @param ending aborts when the caller is gone, and is aborted when this process stops
   * @throws any error, which is also in the log
   */
  async runStreamedOperation(
    name: string,
    request: GrpcRequestMessage,
    onMessage: SendMessage,
    ending: AbortController,
  ): Promise<void> {
    this.streams.add(ending);
    try {
      await this.getGrpcOperationOrThrowIfBusy(name, 0)(parseGrpcRequest(request), onMessage, ending.signal);
    } catch (error) {
      const isExpected = convertErrorToGrpcAnswerMessage(error) !== undefined;
      if (isExpected) this.logger.info({ method: name, reason: String(error) }, 'command server: a stream was refused');
      else this.logger.error({ method: name, err: error }, 'command server: a streamed operation failed');
      throw error;
    } finally {
      this.streams.delete(ending);
    }
  }

  /** Ends all streamed operations. Their callers continue with other processes. */
  endStreamedOperations(): void {
    for (const stream of this.streams) stream.abort();
  }

  /** Resolves when all running calls have ended. */
  async waitUntilIdle(): Promise<void> {
    await this.running.waitForRunningGrpcCalls();
  }

  private async runGrpcOperationAndLogOutcome(
    name: string,
    request: GrpcRequestMessage,
    origin: Partial<CausingRequest>,
    requestBytes: number,
  ): Promise<OperationAnswerMessage> {
    const started = performance.now();
    const about = { ...toOriginLogFields(origin), method: name };
    const ended = (outcome: string) => {
      // Calls that serve no client request are not logged, because processes constantly make them.
      if (origin.request_id === undefined) return;
      const duration_ms = Math.round((performance.now() - started) * 10) / 10;
      this.logger.info({ ...about, outcome, duration_ms }, 'call');
    };
    try {
      const answer = toGrpcAnswerMessage(
        await this.getGrpcOperationOrThrowIfBusy(name, requestBytes)(parseGrpcRequest(request)),
      );
      if (Buffer.byteLength(answer.json ?? '') > this.limits.maxAnswerBytes) {
        throw new Error(
          `the response to this call is larger than ${this.limits.maxAnswerBytes} bytes, the limit of this server`,
        );
      }
      ended('answered');
      return answer;
    } catch (error) {
      const answer = convertErrorToGrpcAnswerMessage(error);
      ended(Object.keys(answer ?? {})[0] ?? 'failed');
      if (answer !== undefined) return answer;
      this.logger.error({ ...about, err: error }, 'command server: an operation failed');
      return { failed: `${this.loaded.proto.name}.${name} failed` };
    }
  }

  /** Returns the operation if a call of this size may start. @throws BusyError */
  private getGrpcOperationOrThrowIfBusy(name: string, requestBytes: number): Operation {
    this.running.throwIfTooManyCalls(this.loaded.proto.name, requestBytes, this.streams.size);
    const operation = this.operations.get(name);
    if (operation === undefined) throw new Error(`this process does not implement the operation ${name}`);
    return operation;
  }
}
