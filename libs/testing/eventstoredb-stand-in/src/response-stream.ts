import { once } from 'node:events';
import type { ServerWritableStream } from '@grpc/grpc-js';
import streamsPb, { type ReadReq, type ReadResp } from '@eventstore/db-client/generated/streams_pb.js';
import { toServiceError } from './errors.ts';
import { RequestRefused } from './request-refused.ts';

/** How often a blocked subscription looks whether its consumer has fallen too far behind. */
const LOOK_MS = 100;

/** The answering side of one read call: waits for its client to take what was written. */
export class ResponseStream {
  private readonly ending = new AbortController();
  private readonly call: ServerWritableStream<ReadReq, ReadResp>;

  constructor(call: ServerWritableStream<ReadReq, ReadResp>) {
    this.call = call;
    call.on('cancelled', () => this.ending.abort());
    call.on('error', () => this.ending.abort());
  }

  /** Aborts when the client has gone, or the call has failed. */
  get signal(): AbortSignal {
    return this.ending.signal;
  }

  /** @param isTooSlow asked while the client takes nothing: whether to give up on it */
  async write(response: ReadResp, isTooSlow?: () => Promise<boolean>): Promise<void> {
    this.signal.throwIfAborted();
    if (this.call.write(response)) return;
    const drained = once(this.call, 'drain', { signal: this.signal });
    if (isTooSlow === undefined) {
      await drained;
      return;
    }
    const timer = setInterval(() => {
      void isTooSlow().then((tooSlow) => {
        if (tooSlow) this.fail(new RequestRefused({ kind: 'consumer_too_slow' }));
      });
    }, LOOK_MS);
    await drained.finally(() => clearInterval(timer));
  }

  end(): void {
    if (!this.signal.aborted) this.call.end();
  }

  fail(error: unknown): void {
    if (this.signal.aborted) return;
    this.call.emit('error', toServiceError(error));
    this.ending.abort();
  }
}

export function confirmation(subscriptionId: string): ReadResp {
  const confirmed = new streamsPb.ReadResp.SubscriptionConfirmation().setSubscriptionId(subscriptionId);
  return new streamsPb.ReadResp().setConfirmation(confirmed);
}

export function checkpoint(commit: string, prepare: string): ReadResp {
  const reached = new streamsPb.ReadResp.Checkpoint().setCommitPosition(commit).setPreparePosition(prepare);
  return new streamsPb.ReadResp().setCheckpoint(reached);
}
