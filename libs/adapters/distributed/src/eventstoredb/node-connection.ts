import { setImmediate } from 'node:timers/promises';
import { EventStoreDBClient, UnavailableError as NodeUnavailableError } from '@eventstore/db-client';
import streamsService from '@eventstore/db-client/generated/streams_grpc_pb.js';
import type { CallOptions, Channel, Client, Metadata } from '@grpc/grpc-js';
import { UnavailableError } from '@tracking/ports';
import { monotonicMs } from '@tracking/resilience';

/** Name of the engine for operators. */
export const ENGINE_NAME = 'event store';
/** gRPC status of a call that this process gave up. */
const DEADLINE_EXCEEDED_STATUS = 4;

/** Private members of the client that the adapter uses. */
interface EventStoreDbClientInternals {
  readonly handleError: (client: { readonly getChannel: () => unknown }, failure: Error) => Promise<void>;
  readonly getChannel: () => Promise<Channel>;
  readonly getGRPCClient: (type: unknown, name: string) => Promise<Client>;
  readonly callArguments: (options: object, callOptions: CallOptions) => [Metadata, CallOptions];
}

/** A connection to one node, which the client chooses. It changes to another node when the node is lost. */
export class EventStoreDbNodeConnection {
  readonly client: EventStoreDBClient;
  private readonly internals: EventStoreDbClientInternals;
  private answeredAt = 0;
  private reconnectedAt = 0;

  /** @param silenceMs milliseconds without any answer after which the node counts as lost */
  constructor(
    url: string,
    private readonly silenceMs: number,
  ) {
    this.client = EventStoreDBClient.connectionString(url);
    this.internals = patchEventStoreDbClient(this.client);
  }

  /** Returns the gRPC client of the current node. A lost node gets no further calls, and its client is replaced. */
  getGrpcClient(): Promise<Client> {
    return this.internals.getGRPCClient(streamsService.StreamsClient, 'batchAppend');
  }

  /** Returns metadata and options of a call without a deadline. */
  createCallArgumentsWithoutDeadline(callOptions: object): [Metadata, CallOptions] {
    return this.internals.callArguments(callOptions, { deadline: Infinity });
  }

  /** Searches for another node if the error of a call shows that the node is lost, or no longer the leader. */
  findNewNodeAfterCallError(client: Client, error: Error): void {
    void this.internals.handleError(client, error);
  }

  /**
   * Records that the node answered a call. Events of a subscription are no answers, because the subscription can be at
   * another node: it stays open when the connection changes.
   */
  recordTimeOfNodeAnswer(): void {
    this.answeredAt = monotonicMs();
  }

  /**
   * Settles as the call does, or rejects when the node has not answered in time. Rejects earlier if the node
   * answered no call at all for a while, so that the caller can repeat the call on another node.
   * @throws UnavailableError
   */
  async awaitAnswerWithTimeout<T>(answer: Promise<T>, timeoutMs: number): Promise<T> {
    const startedAt = monotonicMs();
    const expired = Promise.withResolvers<never>();
    let isSettled = false;
    const check = async () => {
      // A busy process may have received the answer without having handled it yet.
      await setImmediate();
      if (isSettled) return;
      const now = monotonicMs();
      const leftMs = startedAt + timeoutMs - now;
      const untilSilentMs = Math.max(this.answeredAt, startedAt) + this.silenceMs - now;
      if (leftMs > 0 && untilSilentMs > 0) timer = setTimeout(check, Math.min(leftMs, untilSilentMs));
      else {
        this.giveUpNodeIfUnresponsive();
        expired.reject(createNodeTimeoutError());
      }
    };
    let timer = setTimeout(check, Math.min(timeoutMs, this.silenceMs));
    const noteFailure = (error: unknown) => {
      if ((error as { readonly code?: unknown }).code !== DEADLINE_EXCEEDED_STATUS) this.recordTimeOfNodeAnswer();
    };
    answer.then(() => this.recordTimeOfNodeAnswer(), noteFailure);
    try {
      return await Promise.race([answer, expired.promise]);
    } finally {
      isSettled = true;
      clearTimeout(timer);
    }
  }

  /**
   * Gives up the current node if it has not answered for a while. The client itself notices a node that hangs only after
   * about 20 seconds. Later calls search for the leader again; calls in progress continue.
   */
  giveUpNodeIfUnresponsive(): void {
    const now = monotonicMs();
    if (now - Math.max(this.answeredAt, this.reconnectedAt) < this.silenceMs) return;
    this.reconnectedAt = now;
    const { getChannel, handleError } = this.internals;
    // While the client searches for a node, there is no channel to give up.
    let isConnected = true;
    globalThis.setImmediate(() => (isConnected = false));
    getChannel().then(
      (channel) => (isConnected ? handleError({ getChannel: () => channel }, new NodeUnavailableError()) : undefined),
      () => undefined,
    );
  }

  async closeNodeConnection(): Promise<void> {
    await this.client.dispose();
    // The code does not await the promise, because it does not settle while no node is found.
    this.internals.getChannel().then(
      (channel) => channel.close(),
      () => undefined,
    );
  }
}

/**
 * Changes three behaviors of the client that would lose concurrent appends or end the process:
 * - Appends that share one long call (`BatchAppend`) are in one map for all clients of the process. An error of any call
 *   rejects them all, a later response causes an uncaught `TypeError`, and the error of a write that waits for capacity
 *   is uncaught too. So each append of the client uses its own call, as with servers without `BatchAppend`.
 * - After an error, the client closes its channel immediately. An append that is being started then fails with an
 *   uncaught error. If no node is found meanwhile, there is an unhandled rejection. So the channel is closed in a turn of
 *   the event loop of its own.
 * - With `throwOnAppendFailure=false` in the URL, a refused append would look like a stored one.
 */
function patchEventStoreDbClient(client: EventStoreDBClient): EventStoreDbClientInternals {
  const internals = client as unknown as EventStoreDbClientInternals;
  const { handleError } = internals;
  Object.defineProperties(client, {
    supports: { value: () => Promise.resolve(false) },
    handleError: {
      value: async (...failure: Parameters<EventStoreDbClientInternals['handleError']>) => {
        await setImmediate();
        await handleError(...failure).catch(() => undefined);
      },
    },
    throwOnAppendFailure: { value: true },
  });
  return internals;
}

export function createNodeTimeoutError(): UnavailableError {
  return new UnavailableError(ENGINE_NAME, 'the node did not respond in time');
}
