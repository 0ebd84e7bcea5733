import { DomainError, type JsonObject, type JsonValue } from '@tracking/contracts';
import {
  Unavailable,
  originFields,
  type CallOrigin,
  type CommandChannel,
  type CommandHandler,
  type CommandServer,
  type Logger,
} from '@tracking/ports';

/** Commands between services of one process: a call, with the deadline and the errors of any other channel. */
export class DirectCommandChannel implements CommandChannel, CommandServer {
  private readonly services = new Map<string, Readonly<Record<string, CommandHandler>>>();
  private readonly underWay = new Set<Promise<unknown>>();
  private closed = false;

  constructor(
    private readonly logger: Logger,
    private readonly origin: CallOrigin = () => undefined,
  ) {}

  serve(service: string, methods: Readonly<Record<string, CommandHandler>>): void {
    this.services.set(service, { ...this.services.get(service), ...methods });
  }

  async call(service: string, method: string, request: JsonObject, deadlineMs: number): Promise<JsonValue> {
    if (this.closed) throw new Unavailable(service, 'the command channel is closed');
    const methods = this.services.get(service);
    if (methods === undefined) throw new Unavailable(service, 'not in this process');
    const handler = Object.hasOwn(methods, method) ? methods[method] : undefined;
    if (handler === undefined) throw new Error(`${service} has no method ${method}`);
    const answer = this.handle(service, method, handler, request);
    this.underWay.add(answer);
    const forget = () => this.underWay.delete(answer);
    answer.then(forget, forget);
    return withDeadline(service, answer, deadlineMs);
  }

  /** Takes no more calls, and lets those under way finish. */
  async close(): Promise<void> {
    this.closed = true;
    await Promise.allSettled(this.underWay);
  }

  private async handle(
    service: string,
    method: string,
    handler: CommandHandler,
    request: JsonObject,
  ): Promise<JsonValue> {
    try {
      return await handler(request);
    } catch (error) {
      if (error instanceof DomainError || error instanceof Unavailable) throw error;
      this.logger.error({ ...originFields(this.origin()), service, method, err: error }, 'a command failed');
      throw new Error(`${service}.${method} failed`);
    }
  }
}

function withDeadline<T>(service: string, answer: Promise<T>, deadlineMs: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const late = () => reject(new Unavailable(service, `no answer within ${deadlineMs} ms`));
    const timer = setTimeout(late, deadlineMs);
    answer.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
