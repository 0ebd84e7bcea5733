import { once } from 'node:events';
import { type ServerWritableStream, status } from '@grpc/grpc-js';
import { RpcException } from '@nestjs/microservices';
import { EMPTY, fromEvent, Observable, takeUntil } from 'rxjs';
import {
  type OperationAnswerMessage,
  readAnswerResultOrThrow,
  type GrpcRequestMessage,
  toGrpcAnswerMessage,
} from './service-protos.ts';

/**
 * Passes the messages of a streamed response to a listener, in order. Resolves when the stream ends or the signal
 * aborts.
 * @throws ServiceError if the connection is lost; errors of the service; errors of the listener
 */
export async function receiveStreamedMessages(
  stream: Observable<OperationAnswerMessage> = EMPTY,
  onMessage: (message: unknown) => void,
  signal: AbortSignal,
): Promise<void> {
  if (signal.aborted) return;
  const messages = stream.pipe(takeUntil(fromEvent(signal, 'abort')));
  await messages.forEach((message) => onMessage(readAnswerResultOrThrow(message)));
}

/** Sends a message of a streamed response. Resolves when the caller can take another message, or is gone. */
export type SendMessage = (message: unknown) => Promise<void>;

/**
 * Returns the messages of a streamed operation until it ends or the caller is gone. An operation that awaits each
 * `send` keeps only a few messages in memory for a slow caller.
 * @param run performs the operation; `ending` aborts when the caller is gone
 */
export function createMessageStream(
  call: ServerWritableStream<GrpcRequestMessage, OperationAnswerMessage>,
  run: (send: SendMessage, ending: AbortController) => Promise<void>,
): Observable<OperationAnswerMessage> {
  return new Observable((caller) => {
    const ending = new AbortController();
    let draining: Promise<unknown> | undefined;
    const send = async (message: unknown) => {
      caller.next(toGrpcAnswerMessage(message));
      if (!call.writableNeedDrain) return;
      // Rejects when the caller is gone, and the operation then ends too.
      draining ??= once(call, 'drain', { signal: ending.signal }).catch(() => undefined);
      await draining;
      draining = undefined;
    };
    run(send, ending).then(
      () => caller.complete(),
      () => caller.error(new RpcException({ code: status.INTERNAL, message: 'the operation failed' })),
    );
    return () => ending.abort();
  });
}
