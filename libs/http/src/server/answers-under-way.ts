import { Busy } from '@tracking/ports';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import { MIB } from './route-bodies.ts';

/** Bytes of responses that may be prepared or sent at the same time. Preparing a response takes several times its size. */
const AT_ONCE = 64 * MIB;
/** The part of these bytes that one workspace may hold, so that its slow clients do not block others. */
const SHARE = 1 / 2;
/** Bytes that count for a page until its size is known, if pages of its list were large or are not known. */
const PAGE = 8 * MIB;
/**
 * Bytes that count for it at least. With this, one workspace whose pages suddenly become large gets as many bytes as the
 * process may hold, and no more.
 */
const LEAST_PAGE = PAGE * SHARE;
/** A page counts as so many times the size of recent pages of its list. */
const MARGIN = 2;
/** The part of its weight that the size of a page has left when the next page of the list was read. */
const FADING = 0.95;
const MOST_LISTS = 10_000;
/** Smaller answers do not count. */
const SMALL = 64 * 1_024;
const LONGEST_WAIT_MS = 5_000;
const MOST_WAITING = 1_000;

interface HeldAnswer {
  readonly bytes: number;
  readonly workspace: string | undefined;
  /** Set while a page is read: the list and its workspace. */
  readonly list?: string;
}

interface WaitingPage {
  readonly request: FastifyRequest;
  readonly list: string;
  begin(): void;
  fail(): void;
}

declare module 'fastify' {
  interface FastifyInstance {
    answersUnderWay: AnswersUnderWay;
  }
}

/**
 * Waits until there is room for a page. Called when nothing else is waited for before the page is read.
 * @throws Busy when others take too long, or too many wait
 */
export function roomForPage(request: FastifyRequest): Promise<void> {
  return request.server.answersUnderWay.roomForPage(request);
}

/**
 * Bounds the bytes of answers under way, in the process and of each workspace. A page of a list waits for room before it
 * is read, and counts while it is read even if its client has gone. Any answer counts from when it is made until it is
 * sent, or its client has gone.
 */
export class AnswersUnderWay {
  private readonly held = new Map<string, HeldAnswer>();
  private bytes = 0;
  private readonly bytesOfWorkspaces = new Map<string | undefined, number>();
  private waiting: WaitingPage[] = [];
  /** Size of the largest recent page, by list. */
  private readonly pageSizes = new LRUCache<string, number>({ max: MOST_LISTS });

  constructor(
    private readonly atOnce = AT_ONCE,
    private readonly longestWaitMs = LONGEST_WAIT_MS,
  ) {}

  /** Counts the answers of these routes. */
  watch(fastify: FastifyInstance): void {
    fastify.decorate('answersUnderWay', { getter: (): AnswersUnderWay => this });
    fastify.addHook('onSend', (request, reply, payload, done) => {
      const { id } = request;
      const isWhole = typeof payload === 'string' || Buffer.isBuffer(payload);
      const bytes = isWhole ? Buffer.byteLength(payload) : 0;
      const page = this.release(id);
      if (page?.list !== undefined && reply.statusCode === 200) this.learn(page.list, bytes);
      if (bytes > SMALL) {
        this.hold(id, { bytes, workspace: workspaceOf(request) });
        whenSent(request, reply, () => this.sent(id));
      }
      this.beginWaiting();
      done(null, payload);
    });
    fastify.addHook('onRequest', (request, reply, done) => {
      reply.raw.once('close', () => this.waiting.find((page) => page.request === request)?.fail());
      done();
    });
  }

  /** @throws Busy when others take too long, or too many wait */
  async roomForPage(request: FastifyRequest): Promise<void> {
    const list = [workspaceOf(request), request.routeOptions.url].join(' ');
    if (this.beginPage(request, list)) return;
    if (this.waiting.length >= MOST_WAITING) throw new Busy('gateway', 'many pages wait to be read');
    await new Promise<void>((resolve, reject) => {
      const end = (settle: () => void) => {
        clearTimeout(timer);
        this.waiting = this.waiting.filter((page) => page !== waiting);
        settle();
      };
      const begin = () => end(resolve);
      const fail = () => end(() => reject(new Busy('gateway', 'many large answers are under way already')));
      const waiting: WaitingPage = { request, list, begin, fail };
      const timer = setTimeout(fail, this.longestWaitMs);
      this.waiting.push(waiting);
    });
  }

  private sent(request: string): void {
    this.release(request);
    this.beginWaiting();
  }

  private beginWaiting(): void {
    // Pages of one list count the same, so the first one without room speaks for all: a thousand may wait.
    const full = new Set<string>();
    for (const page of this.waiting) {
      if (full.has(page.list)) continue;
      if (this.beginPage(page.request, page.list)) page.begin();
      else full.add(page.list);
    }
  }

  /** Holds the bytes of a page. Returns false, and holds nothing, if there is no room for it. */
  private beginPage(request: FastifyRequest, list: string): boolean {
    const workspace = workspaceOf(request);
    const bytes = this.expectedBytes(list);
    const own = this.bytesOfWorkspaces.get(workspace) ?? 0;
    const hasRoom = this.bytes + bytes <= this.atOnce && own + bytes <= this.atOnce * SHARE;
    // One page always fits, whatever the limits.
    if (!hasRoom && this.held.size > 0) return false;
    this.hold(request.id, { bytes, workspace, list });
    return true;
  }

  private expectedBytes(list: string): number {
    const recent = this.pageSizes.get(list) ?? PAGE;
    return Math.min(PAGE, Math.max(LEAST_PAGE, MARGIN * recent));
  }

  private learn(list: string, bytes: number): void {
    this.pageSizes.set(list, Math.max(bytes, Math.floor(FADING * (this.pageSizes.get(list) ?? 0))));
  }

  private hold(request: string, answer: HeldAnswer): void {
    this.release(request);
    this.held.set(request, answer);
    this.count(answer.workspace, answer.bytes);
  }

  private release(request: string): HeldAnswer | undefined {
    const answer = this.held.get(request);
    this.held.delete(request);
    if (answer !== undefined) this.count(answer.workspace, -answer.bytes);
    return answer;
  }

  private count(workspace: string | undefined, bytes: number): void {
    this.bytes += bytes;
    const own = (this.bytesOfWorkspaces.get(workspace) ?? 0) + bytes;
    if (own === 0) this.bytesOfWorkspaces.delete(workspace);
    else this.bytesOfWorkspaces.set(workspace, own);
  }
}

function workspaceOf({ principal }: FastifyRequest): string | undefined {
  return principal?.workspace_id;
}

/**
 * Calls back once the answer is sent, or its client has gone. Call it when the answer is about to be sent.
 *
 * Fastify's `onResponse` is not enough: it does not run if the client resets the connection while the answer is sent.
 */
export function whenSent({ raw }: FastifyRequest, reply: FastifyReply, end: () => void): void {
  // The response may have had its `close` event already.
  if (raw.socket.destroyed) end();
  else reply.raw.once('close', end);
}
