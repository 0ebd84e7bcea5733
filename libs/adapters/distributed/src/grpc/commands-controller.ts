import { createHash, timingSafeEqual } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { status, type Metadata, type ServerUnaryCall } from '@grpc/grpc-js';
import { Controller, Inject } from '@nestjs/common';
import { GrpcMethod, RpcException } from '@nestjs/microservices';
import { AUTHORIZATION, REQUEST_ID, TRACEPARENT, bearer, type CallReply, type CallRequest } from './protocol.ts';
import type { ServedCommands } from './served-commands.ts';

export const SERVED_COMMANDS = Symbol('served commands');
export const TOKEN = Symbol('token');

/**
 * A process that hung finds requests whose callers gave up long ago, as is said behind them on their connections: by
 * cancellations, or by the end. That is read after so many turns of the event loop (measured), and then they do not begin.
 */
const TURNS_TO_READ_ON = 3;

/** Lets in who knows the token, and hands on what is still waited for. */
@Controller()
export class CommandsController {
  private readonly authorization: Buffer;

  constructor(
    @Inject(SERVED_COMMANDS) private readonly commands: ServedCommands,
    @Inject(TOKEN) token: string,
  ) {
    this.authorization = digest(bearer(token));
  }

  @GrpcMethod('Commands', 'Call')
  async call(request: CallRequest, metadata: Metadata, call: ServerUnaryCall<CallRequest, CallReply>) {
    const [given = ''] = metadata.get(AUTHORIZATION);
    if (!timingSafeEqual(digest(given), this.authorization)) {
      throw new RpcException({ code: status.UNAUTHENTICATED, message: 'not a known caller' });
    }
    for (let turn = 0; turn < TURNS_TO_READ_ON; turn += 1) await setImmediate();
    if (call.cancelled) throw new RpcException({ code: status.CANCELLED, message: 'no longer waited for' });
    const origin = { request_id: textOf(metadata, REQUEST_ID), traceparent: textOf(metadata, TRACEPARENT) };
    return { reply: await this.commands.answer(request, origin) } satisfies CallReply;
  }
}

function textOf(metadata: Metadata, name: string): string | undefined {
  return metadata.get(name)[0]?.toString();
}

/** Of one length whatever the text: the time that comparing takes says nothing about either. */
function digest(text: string | Buffer): Buffer {
  return createHash('sha256').update(text).digest();
}
