import { createHash, timingSafeEqual } from 'node:crypto';
import { ServerInterceptingCall, status, type Metadata, type ServerInterceptor } from '@grpc/grpc-js';
import type { RequestOrigin } from '@tracking/ports';

/** Metadata by which a caller makes itself known, and by which it names the request for which it calls. */
const AUTHORIZATION = 'authorization';
const REQUEST_ID = 'request-id';
const TRACEPARENT = 'traceparent';

const bearer = (token: string) => `Bearer ${token}`;

export function setToken(metadata: Metadata, token: string): void {
  metadata.set(AUTHORIZATION, bearer(token));
}

/** Turns away whoever does not know the token, before a request is read: of every operation, and of reflection. */
export function requiresToken(token: string): ServerInterceptor {
  const authorization = digest(bearer(token));
  return (_method, call) =>
    new ServerInterceptingCall(call, {
      start: (begin) =>
        begin({
          onReceiveMetadata(metadata, accept) {
            const [given = ''] = metadata.get(AUTHORIZATION);
            if (timingSafeEqual(digest(given), authorization)) accept(metadata);
            else call.sendStatus({ code: status.UNAUTHENTICATED, details: 'not a known caller' });
          },
        }),
    });
}

export function setOrigin(metadata: Metadata, { request_id, traceparent }: RequestOrigin): void {
  metadata.set(REQUEST_ID, request_id);
  metadata.set(TRACEPARENT, traceparent);
}

/** As far as the caller told. */
export function originIn(metadata: Metadata): Partial<RequestOrigin> {
  const [request_id] = metadata.get(REQUEST_ID);
  const [traceparent] = metadata.get(TRACEPARENT);
  return {
    ...(request_id !== undefined && { request_id: request_id.toString() }),
    ...(traceparent !== undefined && { traceparent: traceparent.toString() }),
  };
}

/** Of one length whatever the text: the time that comparing takes says nothing about either. */
function digest(text: string | Buffer): Buffer {
  return createHash('sha256').update(text).digest();
}
