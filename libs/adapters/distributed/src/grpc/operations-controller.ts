import { setImmediate } from 'node:timers/promises';
import { status, type Metadata, type ServerUnaryCall } from '@grpc/grpc-js';
import { Controller, type Type } from '@nestjs/common';
import { GrpcMethod, RpcException } from '@nestjs/microservices';
import { originIn } from './call-metadata.ts';
import type { AnswerMessage, RequestMessage } from './messages.ts';
import type { ServedOperations } from './served-operations.ts';
import type { LoadedProto } from './service-protos.ts';

/**
 * A process that hung finds requests whose callers gave up long ago, as is said behind them on their connections: by
 * cancellations, or by the end. That is read after so many turns of the event loop (measured), and then they do not begin.
 */
const TURNS_TO_READ_ON = 3;

/** A controller with a handler for each rpc, as a class with a `@GrpcMethod` for each would be. */
export function controllerOf({ parts }: LoadedProto, operations: ServedOperations): Type {
  class OperationsController {}
  Controller()(OperationsController);
  for (const { service, rpcs } of parts) {
    for (const { method, name } of rpcs) {
      const handler = { value: handlerOf(name, operations), configurable: true, enumerable: true, writable: true };
      Object.defineProperty(OperationsController.prototype, name, handler);
      GrpcMethod(service, method)(OperationsController.prototype, name, handler);
    }
  }
  return OperationsController;
}

function handlerOf(name: string, operations: ServedOperations) {
  return async (
    request: RequestMessage,
    metadata: Metadata,
    call: ServerUnaryCall<RequestMessage, AnswerMessage>,
  ): Promise<AnswerMessage> => {
    for (let turn = 0; turn < TURNS_TO_READ_ON; turn += 1) await setImmediate();
    if (call.cancelled) throw new RpcException({ code: status.CANCELLED, message: 'no longer waited for' });
    return operations.answer(name, request, originIn(metadata));
  };
}
