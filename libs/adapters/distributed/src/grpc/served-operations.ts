import { Busy, originFields, type Logger, type RequestOrigin } from '@tracking/ports';
import type { GrpcLimits } from './grpc-options.ts';
import { answerMessage, errorMessage, requestOf, type AnswerMessage, type RequestMessage } from './messages.ts';
import type { LoadedProto, Parts } from './service-protos.ts';

type Operation = (request: object) => Promise<unknown>;
type ByName<T> = Readonly<Record<string, T | undefined>>;

/** The operations of this process and their calls under way. */
export class ServedOperations {
  /** By the rpc's name. */
  private readonly operations = new Map<string, Operation>();
  private readonly underWay = new Set<Promise<unknown>>();

  constructor(
    private readonly loaded: LoadedProto,
    private readonly limits: GrpcLimits,
    private readonly logger: Logger,
  ) {}

  get depth(): number {
    return this.underWay.size;
  }

  /** @throws Error where the .proto file has what is no operation */
  add<T extends Parts<T>>(parts: T): void {
    const served = parts as unknown as ByName<ByName<Operation>>;
    for (const { name, rpcs } of this.loaded.parts) {
      const part = served[name];
      for (const rpc of rpcs) {
        const operation = part?.[rpc.operation];
        if (operation === undefined) throw new Error(`${rpc.name} is no operation of ${this.loaded.proto.name}`);
        this.operations.set(rpc.name, operation.bind(part));
      }
    }
  }

  /** Never rejects. @param name of the rpc */
  async answer(name: string, request: RequestMessage, origin: Partial<RequestOrigin>): Promise<AnswerMessage> {
    const answering = this.answerTo(name, request, origin);
    this.underWay.add(answering);
    const answer = await answering;
    this.underWay.delete(answering);
    return answer;
  }

  /** Settles when the calls that are under way have ended. */
  async idle(): Promise<void> {
    await Promise.all(this.underWay);
  }

  private async answerTo(name: string, request: RequestMessage, origin: Partial<RequestOrigin>) {
    const started = performance.now();
    const about = { ...originFields(origin), method: name };
    const ended = (outcome: string) => {
      // What the processes ask each other all the time, for no request, has no line.
      if (origin.request_id === undefined) return;
      const duration_ms = Math.round((performance.now() - started) * 10) / 10;
      this.logger.info({ ...about, outcome, duration_ms }, 'call');
    };
    try {
      const answer = answerMessage(await this.operationNamed(name)(requestOf(request)));
      if (Buffer.byteLength(answer.json ?? '') > this.limits.maxAnswerBytes) {
        throw new Error(`the answer is larger than ${this.limits.maxAnswerBytes} bytes`);
      }
      ended('answered');
      return answer;
    } catch (error) {
      const answer = errorMessage(error);
      ended(Object.keys(answer ?? {})[0] ?? 'failed');
      if (answer !== undefined) return answer;
      this.logger.error({ ...about, err: error }, 'a command failed');
      return { failed: `${this.loaded.proto.name}.${name} failed` };
    }
  }

  private operationNamed(name: string): Operation {
    if (this.underWay.size >= this.limits.maxCalls) {
      throw new Busy(this.loaded.proto.name, 'too many calls are under way');
    }
    const operation = this.operations.get(name);
    if (operation === undefined) throw new Error(`nobody serves ${name}`);
    return operation;
  }
}
