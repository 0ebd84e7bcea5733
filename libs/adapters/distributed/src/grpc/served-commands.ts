import type { JsonObject } from '@tracking/contracts';
import { Busy, Unavailable, originFields, type CommandHandler, type Logger } from '@tracking/ports';
import type { GrpcLimits } from './grpc-options.ts';
import type { CallRequest } from './protocol.ts';
import { replyOf, type Reply } from './reply.ts';

/** The request for which a call is made, as far as the caller told. */
export interface CalledFor {
  readonly request_id?: string | undefined;
  readonly traceparent?: string | undefined;
}

/** The services of this process and their calls under way. */
export class ServedCommands {
  private readonly services = new Map<string, Readonly<Record<string, CommandHandler>>>();
  private readonly underWay = new Set<Promise<unknown>>();

  constructor(
    private readonly limits: GrpcLimits,
    private readonly logger: Logger,
  ) {}

  get depth(): number {
    return this.underWay.size;
  }

  add(service: string, methods: Readonly<Record<string, CommandHandler>>): void {
    this.services.set(service, { ...this.services.get(service), ...methods });
  }

  /** @returns a `Reply` as JSON; never rejects */
  async answer(call: CallRequest, origin: CalledFor = {}): Promise<string> {
    const answering = this.replyTo(call, origin);
    this.underWay.add(answering);
    const reply = await answering;
    this.underWay.delete(answering);
    return reply;
  }

  /** Settles when the calls that are under way have ended. */
  async idle(): Promise<void> {
    await Promise.all(this.underWay);
  }

  private async replyTo(call: CallRequest, origin: CalledFor): Promise<string> {
    const { service, method, request } = call;
    const started = performance.now();
    const about = { ...originFields(origin), service, method };
    const ended = (outcome: string) => {
      // What the processes ask each other all the time, for no request, has no line.
      if (origin.request_id === undefined) return;
      const duration_ms = Math.round((performance.now() - started) * 10) / 10;
      this.logger.info({ ...about, outcome, duration_ms }, 'call');
    };
    try {
      const handler = this.handlerOf(service, method);
      if (handler === undefined)
        return JSON.stringify({ failed: `${service} has no method ${method}` } satisfies Reply);
      const answer = await handler(JSON.parse(request) as JsonObject);
      const reply = JSON.stringify({ answer } satisfies Reply);
      if (Buffer.byteLength(reply) > this.limits.maxAnswerBytes) {
        throw new Error(`the answer is larger than ${this.limits.maxAnswerBytes} bytes`);
      }
      ended('answered');
      return reply;
    } catch (error) {
      const reply = replyOf(error);
      ended(reply === undefined ? 'failed' : (Object.keys(reply)[0] ?? 'failed'));
      if (reply !== undefined) return JSON.stringify(reply);
      this.logger.error({ ...about, err: error }, 'a command failed');
      return JSON.stringify({ failed: `${service}.${method} failed` } satisfies Reply);
    }
  }

  private handlerOf(service: string, method: string): CommandHandler | undefined {
    if (this.underWay.size >= this.limits.maxCalls) throw new Busy(service, 'too many calls are under way');
    const methods = this.services.get(service);
    if (methods === undefined) throw new Unavailable(service, 'not in the process that was asked');
    return Object.hasOwn(methods, method) ? methods[method] : undefined;
  }
}
