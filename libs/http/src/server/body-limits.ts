import type { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { BusyError } from '@tracking/ports';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { callWhenResponseEnds } from './response-budget.ts';
import { DEFAULT_JSON_BODY_BYTES } from './json-body.ts';
import { toClientNetworkPrefix } from './quota.ts';
import { hasRequestBody, BYTES_PER_MIB } from './route-bodies.ts';
import { addUnfinishedBodyBytes } from './whole-bodies.ts';

/** Bytes of large bodies that may be held in memory at once. Reading a body takes several times its size. */
const MAX_HELD_BODY_BYTES = 48 * BYTES_PER_MIB;
/** Bytes in memory for each streamed body: buffers of the socket, the reader and the file checks. */
const BUFFERED_BYTES_PER_STREAMED_BODY = (3 / 4) * BYTES_PER_MIB;
/** Share of these bytes that one workspace may use, so that its slow clients do not block other workspaces. */
const MAX_BODY_SHARE_PER_WORKSPACE = 1 / 2;

interface BufferedBodySize {
  readonly bytes: number;
  /** Id of the workspace whose client sends the body; undefined if it is not known. */
  readonly workspace: string | undefined;
}

/**
 * Refuses large bodies while too many bytes are in memory. The check runs for admitted requests, before a body is read.
 */
export function limitLargeBodies(fastify: FastifyInstance, maxHeldBytes = MAX_HELD_BODY_BYTES): void {
  const held = new Map<string, BufferedBodySize>();
  fastify.addHook('onRequest', (request, _reply, done) => {
    const body = {
      bytes: getDeclaredOrMaxRequestBodyBytes(request),
      workspace: request.principal?.workspace_id ?? request.upload?.workspace_id,
    };
    if (body.bytes === 0 || (body.bytes <= DEFAULT_JSON_BODY_BYTES && !hasStreamedRequestBody(request))) {
      done();
      return;
    }
    const all = [...held.values(), body];
    const own = all.filter(({ workspace }) => workspace === body.workspace);
    if (sumBytes(all) > maxHeldBytes || sumBytes(own) > maxHeldBytes * MAX_BODY_SHARE_PER_WORKSPACE) {
      done(new BusyError('gateway', 'too many large request bodies are in memory'));
      return;
    }
    held.set(request.id, body);
    done();
  });
  fastify.addHook('onSend', (request, reply, payload, done) => {
    if (held.has(request.id)) callWhenResponseEnds(request, reply, () => held.delete(request.id));
    done(null, payload);
  });
}

function sumBytes(bodies: readonly BufferedBodySize[]): number {
  return bodies.reduce((sum, { bytes }) => sum + bytes, 0);
}

/** Returns the declared size of the body, or the limit of the route if the client declares none. */
function getDeclaredOrMaxRequestBodyBytes({ headers, routeOptions }: FastifyRequest): number {
  if (!hasRequestBody(headers)) return 0;
  const limit = hasStreamedRequestBody({ routeOptions })
    ? BUFFERED_BYTES_PER_STREAMED_BODY
    : (routeOptions.config.body?.limit ?? 0);
  return Math.min(limit, Number(headers['content-length'] ?? limit));
}

function hasStreamedRequestBody({ routeOptions }: Pick<FastifyRequest, 'routeOptions'>): boolean {
  return routeOptions.config.body?.kind.streams === true;
}

/** Time limit of a body that is read as a whole, so that a slow client cannot occupy a connection longer. */
const BODY_TIMEOUT_MS = 60_000;
/** Milliseconds that may pass between two pieces of a body that is read as a whole. */
const IDLE_BODY_TIMEOUT_MS = 15_000;
/** Interval of the checks for late bodies. */
const LATE_BODY_CHECK_INTERVAL_MS = 1_000;
/**
 * Milliseconds for which the rest of a body is discarded after the response. Many clients read the response only after
 * sending the whole body.
 */
const MAX_REMAINING_BODY_DISCARD_MS = 20_000;
/** Bytes of the rest of a body that are discarded; more if the route accepts larger bodies. */
const MAX_DISCARDED_BYTES = 64 * BYTES_PER_MIB;
const REQUEST_TIMEOUT_STATUS = 408;
/** Milliseconds of the longest time limit of any route's body. */
export const MAX_BODY_TIMEOUT_MS = 60 * 60_000;

/**
 * Limits the time that clients may take to send a body. For streamed bodies, this limit applies only after the
 * response, because their reader has a limit of its own.
 * @param respondTimeout responds on the bare socket and closes it
 */
export function limitBodyReceiveTimes(fastify: FastifyInstance, respondTimeout: (socket: Duplex) => void): void {
  const pendingBodies = new Map<IncomingMessage, PendingRequestBody>();
  fastify.addHook('onRequest', ({ raw, headers, routeOptions }, reply, done) => {
    if (hasRequestBody(headers) && routeOptions.config?.body?.kind.streams !== true) {
      const now = performance.now();
      pendingBodies.set(raw, {
        until: now + BODY_TIMEOUT_MS,
        reply: reply.raw,
        bytesRead: raw.socket.bytesRead,
        progressAt: now,
      });
    }
    done();
  });
  fastify.addHook('preValidation', ({ raw }, _reply, done) => {
    pendingBodies.delete(raw);
    done();
  });
  const discards = new BodyDiscarder();
  // One timer for all bodies: a timer and a listener for each took 2% of a request's time.
  const checkTimer = setInterval(() => {
    const now = performance.now();
    discards.closeExpiredConnections(now);
    for (const [raw, body] of pendingBodies) {
      const isOver = raw.complete || raw.destroyed;
      if (!isOver && !isBodyLate(body, raw, now)) continue;
      pendingBodies.delete(raw);
      if (isOver) continue;
      if (body.reply.headersSent) raw.destroy();
      else respondTimeout(raw.socket);
    }
  }, LATE_BODY_CHECK_INTERVAL_MS).unref();
  fastify.addHook('onClose', (_instance, done) => {
    clearInterval(checkTimer);
    done();
  });
  const closedAfterBody = new WeakSet<IncomingMessage>();
  fastify.addHook('onSend', ({ raw }, reply, payload, done) => {
    // Close the connection: the client sent nothing for the whole idle time (RFC 9110, 15.5.9).
    if (reply.statusCode === REQUEST_TIMEOUT_STATUS) reply.header('Connection', 'close');
    // Fastify adds `Connection: close` if a body is refused while it is read. Node would then close the connection
    // directly after the response, and a client that is still sending would not read the response.
    else if (isRequestBodyStillArriving(raw)) {
      reply.removeHeader('Connection');
      // Node would do the same for a client that asks for it, such as every client of HTTP/1.0.
      if (!reply.raw.shouldKeepAlive) {
        reply.raw.removeHeader('Connection');
        reply.raw.shouldKeepAlive = true;
        closedAfterBody.add(raw);
      }
      // Node would read and drop the rest itself, without limits, if nothing had been read from the request.
      raw.read(0);
    }
    done(null, payload);
  });
  fastify.addHook('onResponse', (request, reply, done) => {
    const { raw, routeOptions } = request;
    if (reply.statusCode === REQUEST_TIMEOUT_STATUS) raw.socket.destroySoon();
    else if (isRequestBodyStillArriving(raw)) {
      pendingBodies.delete(raw);
      if (routeOptions.config?.body?.kind.streams === true) raw.removeAllListeners('readable');
      if (closedAfterBody.has(raw)) raw.once('close', () => raw.socket.destroySoon());
      discards.discardRestOfBody(request);
    } else if (closedAfterBody.has(raw)) {
      raw.socket.destroySoon();
    }
    done();
  });
}

/** Returns true if the body has not arrived completely. Always false for requests that tests inject. */
function isRequestBodyStillArriving(raw: IncomingMessage): boolean {
  return !raw.complete && !raw.destroyed && raw.socket instanceof Socket;
}

/** A body that is read as a whole and is not complete yet. Times are those of `performance.now()`. */
interface PendingRequestBody {
  readonly until: number;
  readonly reply: ServerResponse;
  /** Bytes that the connection had received when the body last made progress. */
  bytesRead: number;
  progressAt: number;
}

function isBodyLate(body: PendingRequestBody, { socket }: IncomingMessage, now: number): boolean {
  if (socket.bytesRead !== body.bytesRead) {
    body.bytesRead = socket.bytesRead;
    body.progressAt = now;
  }
  return now >= body.until || now - body.progressAt >= IDLE_BODY_TIMEOUT_MS;
}

/** Maximum number of bodies whose rest is discarded concurrently. */
const MAX_CONCURRENT_BODY_DISCARDS = 32;
/** Number of these bodies that may come from one network, so that its slow clients do not delay others. */
const MAX_CONCURRENT_BODY_DISCARDS_PER_NETWORK = MAX_CONCURRENT_BODY_DISCARDS / 2;
/** Bytes in memory for each of these bodies, discarded or waiting: the buffer of the piece that is read. */
const HELD_BYTES_PER_DISCARDED_BODY = 65_536;

interface DiscardedRequestBody {
  readonly raw: IncomingMessage;
  readonly network: string;
  /** Time at which the connection is closed, on the clock of `performance.now()`. */
  readonly until: number;
  /** Number of bytes to discard before the connection is closed. */
  bytesLeft: number;
}

/**
 * Discards the rest of request bodies after their responses, a few bodies at a time. Waiting bodies are paused. Bodies in
 * chunks do not wait. A connection whose body is not complete within the limits of time and bytes is closed.
 */
class BodyDiscarder {
  private readonly waiting = new Set<DiscardedRequestBody>();
  private readonly discarding = new Set<DiscardedRequestBody>();
  /** Bodies in chunks. They do not take the places of others. */
  private readonly discardingInChunks = new Set<DiscardedRequestBody>();

  discardRestOfBody(request: FastifyRequest): void {
    const { raw, ip, routeOptions } = request;
    const bytesLeft = Math.max(MAX_DISCARDED_BYTES, routeOptions.bodyLimit ?? 0);
    const until = performance.now() + MAX_REMAINING_BODY_DISCARD_MS;
    const body: DiscardedRequestBody = { raw, network: toClientNetworkPrefix(ip), until, bytesLeft };
    const release = addUnfinishedBodyBytes(request, HELD_BYTES_PER_DISCARDED_BODY, () => raw.destroy());
    raw.once('close', () => {
      release();
      this.waiting.delete(body);
      this.discardingInChunks.delete(body);
      if (this.discarding.delete(body)) this.startDiscardingWaitingBodies();
    });
    raw.on('error', () => undefined);
    // Do not pause a body in chunks: a paused request keeps each chunk of one byte as an object of 100 bytes.
    if (raw.headers['transfer-encoding'] !== undefined) {
      this.startDiscardingBody(body, this.discardingInChunks);
      return;
    }
    raw.pause();
    this.waiting.add(body);
    this.startDiscardingWaitingBodies();
  }

  /** Closes the connections whose time is over. */
  closeExpiredConnections(now: number): void {
    for (const { raw, until } of [...this.waiting, ...this.discarding, ...this.discardingInChunks])
      if (now >= until) raw.destroy();
  }

  private startDiscardingWaitingBodies(): void {
    for (const body of this.waiting) {
      if (this.discarding.size >= MAX_CONCURRENT_BODY_DISCARDS) return;
      const ofNetwork = [...this.discarding].filter(({ network }) => network === body.network);
      if (ofNetwork.length < MAX_CONCURRENT_BODY_DISCARDS_PER_NETWORK) this.startDiscardingBody(body, this.discarding);
    }
  }

  private startDiscardingBody(body: DiscardedRequestBody, discarding: Set<DiscardedRequestBody>): void {
    const { raw } = body;
    this.waiting.delete(body);
    discarding.add(body);
    raw.on('data', ({ length }: Buffer) => {
      body.bytesLeft -= length;
      if (body.bytesLeft < 0) raw.destroy();
    });
    raw.resume();
  }
}
