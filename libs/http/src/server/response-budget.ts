import { getHeapStatistics } from 'node:v8';
import { BusyError } from '@tracking/ports';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import { BYTES_PER_MIB } from './route-bodies.ts';

const HEAP_BYTES = getHeapStatistics().heap_size_limit;
/**
 * Bytes of responses that may be prepared or sent at the same time. Preparing a response takes several times its size, so
 * a process with a small heap prepares less.
 */
const MAX_CONCURRENT_RESPONSE_BYTES = HEAP_BYTES < 512 * BYTES_PER_MIB ? HEAP_BYTES / 32 : 32 * BYTES_PER_MIB;
/** Share of these bytes that one workspace may use, so that its slow clients do not block other workspaces. */
const WORKSPACE_RESPONSE_BYTES_FRACTION = 1 / 2;
/** Bytes reserved for a page before its size is known, if recent pages of its list were large or are unknown. */
const DEFAULT_RESERVED_PAGE_BYTES = 8 * BYTES_PER_MIB;
/**
 * Minimum bytes reserved for a page. A workspace whose pages suddenly become large therefore uses at most the bytes of
 * the whole process.
 */
const MIN_RESERVED_PAGE_BYTES = DEFAULT_RESERVED_PAGE_BYTES * WORKSPACE_RESPONSE_BYTES_FRACTION;
/** Factor between the size of recent pages of a list and the bytes reserved for its next page. */
const PAGE_SIZE_SAFETY_FACTOR = 2;
/** Factor by which the remembered size of a list's pages decreases with each page. */
const PAGE_SIZE_DECAY_FACTOR = 0.95;
/** Maximum number of lists whose recent page size is remembered. */
const MAX_LISTS_WITH_REMEMBERED_PAGE_SIZE = 10_000;
/** Responses of at most so many bytes are not counted. */
const MAX_UNCOUNTED_RESPONSE_BYTES = 64 * 1_024;
const MAX_BUDGET_WAIT_MS = 5_000;
const MAX_LIST_RESPONSES_WAITING_FOR_BUDGET = 1_000;

interface ReservedResponseBytes {
  readonly bytes: number;
  readonly workspace: string | undefined;
  /** Key of the list and its workspace. Present while the page is read. */
  readonly list?: string;
}

interface ListResponseWaitingForBudget {
  readonly request: FastifyRequest;
  readonly list: string;
  begin(): void;
  fail(): void;
}

declare module 'fastify' {
  interface FastifyInstance {
    responseBudget: ResponseBudget;
  }
}

/**
 * Waits until the response budget allows another page. Call this function right before the page is read.
 * @throws BusyError if the wait takes too long, or too many requests wait
 */
export function waitForResponseBudget(request: FastifyRequest): Promise<void> {
  return request.server.responseBudget.waitForResponseBudget(request);
}

/**
 * Limits the bytes of responses in progress, for the process and for each workspace. A page of a list waits for room
 * before it is read, and counts while it is read, even if its client has disconnected. Every response with a text counts
 * from its creation until it is sent or its client has disconnected.
 */
export class ResponseBudget {
  private readonly reservations = new Map<string, ReservedResponseBytes>();
  private bytes = 0;
  private readonly bytesOfWorkspaces = new Map<string | undefined, number>();
  private waiting: ListResponseWaitingForBudget[] = [];
  /** Size in bytes of the largest recent page, by list. */
  private readonly pageSizes = new LRUCache<string, number>({ max: MAX_LISTS_WITH_REMEMBERED_PAGE_SIZE });

  constructor(
    private readonly maxBytes = MAX_CONCURRENT_RESPONSE_BYTES,
    private readonly maxWaitMs = MAX_BUDGET_WAIT_MS,
  ) {}

  /** Adds the hooks that count the responses of these routes. */
  addHooksThatCountResponseBytes(fastify: FastifyInstance): void {
    fastify.decorate('responseBudget', { getter: (): ResponseBudget => this });
    fastify.addHook('onSend', (request, reply, payload, done) => {
      const { id } = request;
      // Only texts take memory for each response: all responses with the same static file share one buffer, and streams
      // are sent in small pieces.
      const bytes = typeof payload === 'string' ? Buffer.byteLength(payload) : 0;
      const page = this.releaseResponseBytes(id);
      if (page?.list !== undefined && reply.statusCode === 200) this.recordListPageBytes(page.list, bytes);
      if (bytes > MAX_UNCOUNTED_RESPONSE_BYTES) {
        this.reserveResponseBytes(id, { bytes, workspace: getWorkspaceIdOfPrincipal(request) });
        callWhenResponseEnds(request, reply, () => this.releaseBudgetOfResponse(id));
      }
      this.startPagesWaitingForBudget();
      done(null, payload);
    });
    fastify.addHook('onRequest', (request, reply, done) => {
      reply.raw.once('close', () => this.waiting.find((page) => page.request === request)?.fail());
      done();
    });
  }

  /** @throws BusyError if the wait takes too long, or too many requests wait */
  async waitForResponseBudget(request: FastifyRequest): Promise<void> {
    const list = [getWorkspaceIdOfPrincipal(request), request.routeOptions.url].join(' ');
    if (this.reservePageBytes(request, list)) return;
    if (this.waiting.length >= MAX_LIST_RESPONSES_WAITING_FOR_BUDGET)
      throw new BusyError('gateway', 'too many list pages wait to be read');
    await new Promise<void>((resolve, reject) => {
      const end = (settle: () => void) => {
        clearTimeout(timer);
        this.waiting = this.waiting.filter((page) => page !== waiting);
        settle();
      };
      const begin = () => end(resolve);
      const fail = () => end(() => reject(new BusyError('gateway', 'too many large responses are in progress')));
      const waiting: ListResponseWaitingForBudget = { request, list, begin, fail };
      const timer = setTimeout(fail, this.maxWaitMs);
      this.waiting.push(waiting);
    });
  }

  private releaseBudgetOfResponse(request: string): void {
    this.releaseResponseBytes(request);
    this.startPagesWaitingForBudget();
  }

  private startPagesWaitingForBudget(): void {
    // Skip the other pages of the same list: they need the same size, and up to 1,000 pages wait.
    const listsWithoutRoom = new Set<string>();
    for (const page of this.waiting) {
      if (listsWithoutRoom.has(page.list)) continue;
      if (this.reservePageBytes(page.request, page.list)) page.begin();
      else listsWithoutRoom.add(page.list);
    }
  }

  /** Reserves the bytes of a page. Returns false, and reserves nothing, if there is no room. */
  private reservePageBytes(request: FastifyRequest, list: string): boolean {
    const workspace = getWorkspaceIdOfPrincipal(request);
    const bytes = this.estimatePageBytes(list);
    const own = this.bytesOfWorkspaces.get(workspace) ?? 0;
    const hasRoom =
      this.bytes + bytes <= this.maxBytes && own + bytes <= this.maxBytes * WORKSPACE_RESPONSE_BYTES_FRACTION;
    // Admit a page if no other bytes are reserved, even if the page exceeds the limit.
    if (!hasRoom && this.reservations.size > 0) return false;
    this.reserveResponseBytes(request.id, { bytes, workspace, list });
    return true;
  }

  private estimatePageBytes(list: string): number {
    const recent = this.pageSizes.get(list) ?? DEFAULT_RESERVED_PAGE_BYTES;
    const estimate = Math.min(
      DEFAULT_RESERVED_PAGE_BYTES,
      Math.max(MIN_RESERVED_PAGE_BYTES, PAGE_SIZE_SAFETY_FACTOR * recent),
    );
    // A process with a small heap has a share that is smaller than a large page. The page still fits into the share, so
    // that it does not wait for the pages of all other workspaces.
    return Math.min(estimate, this.maxBytes * WORKSPACE_RESPONSE_BYTES_FRACTION);
  }

  private recordListPageBytes(list: string, bytes: number): void {
    this.pageSizes.set(list, Math.max(bytes, Math.floor(PAGE_SIZE_DECAY_FACTOR * (this.pageSizes.get(list) ?? 0))));
  }

  private reserveResponseBytes(request: string, answer: ReservedResponseBytes): void {
    this.releaseResponseBytes(request);
    this.reservations.set(request, answer);
    this.countResponseBytes(answer.workspace, answer.bytes);
  }

  private releaseResponseBytes(request: string): ReservedResponseBytes | undefined {
    const answer = this.reservations.get(request);
    this.reservations.delete(request);
    if (answer !== undefined) this.countResponseBytes(answer.workspace, -answer.bytes);
    return answer;
  }

  private countResponseBytes(workspace: string | undefined, bytes: number): void {
    this.bytes += bytes;
    const own = (this.bytesOfWorkspaces.get(workspace) ?? 0) + bytes;
    if (own === 0) this.bytesOfWorkspaces.delete(workspace);
    else this.bytesOfWorkspaces.set(workspace, own);
  }
}

function getWorkspaceIdOfPrincipal({ principal }: FastifyRequest): string | undefined {
  return principal?.workspace_id;
}

/**
 * Calls `end` once the response is sent or its client has disconnected. Call this function when the response is about
 * to be sent.
 * Fastify's `onResponse` is not enough: it does not run if the client resets the connection while the response is
 * sent.
 */
export function callWhenResponseEnds({ raw }: FastifyRequest, reply: FastifyReply, end: () => void): void {
  // The response may have had its `close` event already.
  if (raw.socket.destroyed) end();
  else reply.raw.once('close', end);
}
