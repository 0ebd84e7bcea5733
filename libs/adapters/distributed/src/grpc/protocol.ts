import { fileURLToPath } from 'node:url';

/** What both ends tell gRPC, and commands.proto says. */
export const PROTOCOL = {
  package: 'tracking.commands.v1',
  protoPath: fileURLToPath(new URL('commands.proto', import.meta.url)),
} as const;

export interface CallRequest {
  readonly service: string;
  readonly method: string;
  /** A JSON object. */
  readonly request: string;
}
export interface CallReply {
  /** A `Reply` as JSON. */
  readonly reply: string;
}

/** Metadata that names the request at the edge for which the call is made. */
export const REQUEST_ID = 'request-id';
export const TRACEPARENT = 'traceparent';

/** Metadata by which a caller makes itself known. */
export const AUTHORIZATION = 'authorization';
export const bearer = (token: string) => `Bearer ${token}`;
