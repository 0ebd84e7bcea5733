import type { JsonObject, JsonValue } from '@tracking/contracts';
import type { RequestOrigin } from './telemetry.ts';

/** Answers one method of a service. Throws `DomainError` for refusals, `Unavailable` or `Busy` for engines. */
export type CommandHandler = (request: JsonObject) => Promise<JsonValue>;

/** The receiving side: a service says before it starts, in one part or several, which methods it answers. */
export interface CommandServer {
  /** @param service as operators know it: `shipments`, `webhooks` */
  serve(service: string, methods: Readonly<Record<string, CommandHandler>>): void;
}

/** For which request a call is made, asked at each call: the ids of the request stand in the service's log lines too. */
export type CallOrigin = () => RequestOrigin | undefined;

/**
 * Requests from the edge to the services. At least once: an adapter may repeat a request whose outcome it does not know,
 * so requests that write carry a command id by which the service recognises them.
 * `DomainError`, `Unavailable` and `Busy` arrive as they were thrown; anything else arrives as a plain `Error` whose
 * details stay in the service's log.
 */
export interface CommandChannel {
  /**
   * @param deadlineMs after this many milliseconds it rejects with `Unavailable`; the outcome is then unknown
   * @throws DomainError, Unavailable, Busy
   */
  call(service: string, method: string, request: JsonObject, deadlineMs: number): Promise<JsonValue>;
  close(): Promise<void>;
}
