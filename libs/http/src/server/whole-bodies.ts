import type { Readable } from 'node:stream';
import { BusyError } from '@tracking/ports';
import type { FastifyRequest } from 'fastify';
import { RequestError } from '../errors/request-error.ts';
import { toClientNetworkPrefix } from './quota.ts';
import { BYTES_PER_MIB, formatSize } from './route-bodies.ts';

/** Maximum number of bytes in memory for all incomplete bodies of this process. */
const MAX_UNFINISHED_BODY_BYTES = 48 * BYTES_PER_MIB;
/** Share of these bytes that one owner may use: a workspace, or a network if the client has no credentials. */
const MAX_OWNER_SHARE_OF_BODY_BYTES = 1 / 2;

interface UnfinishedRequestBody {
  /** The workspace of the client, or its network if it has no credentials. */
  readonly owner: string;
  bytes: number;
  /** Stops reading this body and refuses the request. */
  readonly refuse: (error: Error) => void;
}

/**
 * Bounds the bytes of incomplete bodies, in total and per owner. If the total is exceeded, the owner with the most
 * bytes loses its latest body, so that no client can block the others.
 */
export class UnfinishedBodies {
  private readonly bodies = new Set<UnfinishedRequestBody>();
  private readonly bytesByOwner = new Map<string, number>();
  private total = 0;

  constructor(private readonly maxBytes = MAX_UNFINISHED_BODY_BYTES) {}

  /** Adds received bytes of this body. If a limit is exceeded, refuses this body or another one. */
  addReceivedBytesAndEnforceLimits(body: UnfinishedRequestBody, bytes: number): void {
    this.bodies.add(body);
    body.bytes += bytes;
    this.addUnfinishedBodyBytesOfOwner(body.owner, bytes);
    if ((this.bytesByOwner.get(body.owner) ?? 0) > this.maxBytes * MAX_OWNER_SHARE_OF_BODY_BYTES)
      this.refuseUnfinishedBodyAsBusy(body);
    while (this.total > this.maxBytes) this.refuseUnfinishedBodyAsBusy(this.findUnfinishedBodyToRefuse());
  }

  /** Removes a body that is complete, refused or aborted. */
  untrackUnfinishedRequestBody(body: UnfinishedRequestBody): void {
    if (this.bodies.delete(body)) this.addUnfinishedBodyBytesOfOwner(body.owner, -body.bytes);
  }

  private refuseUnfinishedBodyAsBusy(body: UnfinishedRequestBody): void {
    this.untrackUnfinishedRequestBody(body);
    body.refuse(new BusyError('gateway', 'too many request bodies are incomplete'));
  }

  private findUnfinishedBodyToRefuse(): UnfinishedRequestBody {
    const [owner] = [...this.bytesByOwner].reduce((a, b) => (b[1] > a[1] ? b : a));
    return [...this.bodies].findLast((body) => body.owner === owner) as UnfinishedRequestBody;
  }

  private addUnfinishedBodyBytesOfOwner(owner: string, bytes: number): void {
    this.total += bytes;
    const left = (this.bytesByOwner.get(owner) ?? 0) + bytes;
    if (left === 0) this.bytesByOwner.delete(owner);
    else this.bytesByOwner.set(owner, left);
  }
}

/** The incomplete bodies of all servers of this process. */
const unfinishedBodies = new UnfinishedBodies();

function getQuotaOwnerOfBody({ principal, ip }: FastifyRequest): string {
  return principal?.workspace_id ?? toClientNetworkPrefix(ip);
}

/**
 * Counts bytes that an incomplete body occupies although it is not stored. Returns a function that ends this.
 * @param refuse called if the limits of incomplete bodies are exceeded
 */
export function addUnfinishedBodyBytes(request: FastifyRequest, bytes: number, refuse: () => void): () => void {
  const body: UnfinishedRequestBody = { owner: getQuotaOwnerOfBody(request), bytes: 0, refuse };
  unfinishedBodies.addReceivedBytesAndEnforceLimits(body, bytes);
  return () => unfinishedBodies.untrackUnfinishedRequestBody(body);
}

/** Maximum size of a block to which pieces of a body are added. */
const MAX_BODY_BLOCK_BYTES = 65_536;

/**
 * Copies the pieces of a body into blocks, which take at most twice the bytes of the body. Kept as they are, pieces of
 * one byte would take 200 times as much, and each piece a part of a buffer of 64 KiB.
 */
class BodyBlocks {
  private readonly blocks: Buffer[] = [];
  private last = Buffer.alloc(0);
  /** Bytes of the last block that are in use. All other blocks are full. */
  private filled = 0;
  private total = 0;

  addPiece(piece: Buffer): void {
    const fitting = piece.copy(this.last, this.filled);
    this.filled += fitting;
    if (fitting < piece.length) {
      const rest = piece.subarray(fitting);
      this.last = Buffer.allocUnsafe(Math.max(rest.length, Math.min(this.total, MAX_BODY_BLOCK_BYTES)));
      this.filled = rest.copy(this.last);
      this.blocks.push(this.last);
    }
    this.total += piece.length;
  }

  joinBlocks(): Buffer {
    const [first, ...others] = this.blocks;
    return first !== undefined && others.length === 0 ? first : Buffer.concat(this.blocks, this.total);
  }
}

/**
 * Reads a body as a whole, up to the limit of its route.
 * @param done called once, with the bytes or with a RequestError `body_too_large`, a BusyError, or the connection's error
 */
export function readWholeBody(
  request: FastifyRequest,
  payload: Readable,
  done: (error: Error | null, body?: Buffer) => void,
): void {
  const limit = request.routeOptions.bodyLimit ?? 0;
  const tooLarge = () => new RequestError('body_too_large', `The body is larger than ${formatSize(limit)}.`);
  if (Number(request.headers['content-length'] ?? 0) > limit) {
    done(tooLarge());
    return;
  }
  const blocks = new BodyBlocks();
  const end = (error: Error | null) => {
    unfinishedBodies.untrackUnfinishedRequestBody(body);
    payload.off('data', add).off('end', complete).off('error', end);
    if (error === null) {
      done(null, blocks.joinBlocks());
    } else {
      // Stop reading now: `limitBodyReceiveTimes` discards the rest of the body after the response.
      payload.on('error', () => undefined).pause();
      done(error);
    }
  };
  const body: UnfinishedRequestBody = {
    owner: getQuotaOwnerOfBody(request),
    bytes: 0,
    refuse: end,
  };
  const add = (piece: Buffer) => {
    if (body.bytes + piece.length > limit) {
      end(tooLarge());
      return;
    }
    blocks.addPiece(piece);
    unfinishedBodies.addReceivedBytesAndEnforceLimits(body, piece.length);
  };
  const complete = () => end(null);
  payload.on('data', add).on('end', complete).on('error', end);
}
