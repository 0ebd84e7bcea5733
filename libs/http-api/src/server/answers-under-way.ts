import { Busy } from '@tracking/ports';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { whenSent } from './answer-end.ts';
import { MIB } from './sizes.ts';

/** Most bytes of answers that are made or sent at a time; while it is made, an answer takes several times its size. */
const AT_ONCE = 64 * MIB;
/** The part of them that one workspace may hold: while it reads slowly, others still get their answers. */
const SHARE = 1 / 2;
/** Bytes that count for a page until its size is known. */
const PAGE = 8 * MIB;
/** Smaller answers do not count. */
const SMALL = 64 * 1_024;
const LONGEST_WAIT_MS = 5_000;
const MOST_WAITING = 1_000;

interface HeldAnswer {
  readonly bytes: number;
  readonly workspace: string | undefined;
}

interface WaitingPage {
  readonly id: string;
  readonly workspace: string | undefined;
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
  private waiting: WaitingPage[] = [];

  constructor(
    private readonly atOnce = AT_ONCE,
    private readonly longestWaitMs = LONGEST_WAIT_MS,
  ) {}

  /** Counts the answers of these routes. */
  watch(fastify: FastifyInstance): void {
    fastify.decorate('answersUnderWay', { getter: (): AnswersUnderWay => this });
    fastify.addHook('onSend', (request, reply, payload, done) => {
      const isWhole = typeof payload === 'string' || Buffer.isBuffer(payload);
      const bytes = isWhole ? Buffer.byteLength(payload) : 0;
      this.held.delete(request.id);
      if (bytes > SMALL) {
        this.held.set(request.id, { bytes, workspace: workspaceOf(request) });
        whenSent(request, reply, () => this.sent(request.id));
      }
      this.beginWaiting();
      done(null, payload);
    });
    fastify.addHook('onRequest', ({ id }, reply, done) => {
      reply.raw.once('close', () => this.waiting.find((page) => page.id === id)?.fail());
      done();
    });
  }

  private sent(request: string): void {
    this.held.delete(request);
    this.beginWaiting();
  }

  /** @throws Busy when others take too long, or too many wait */
  async roomForPage(request: FastifyRequest): Promise<void> {
    const { id } = request;
    const workspace = workspaceOf(request);
    if (this.hasRoom(workspace)) return this.hold(id, workspace);
    if (this.waiting.length >= MOST_WAITING) throw new Busy('gateway', 'many pages wait to be read');
    await new Promise<void>((resolve, reject) => {
      const end = (settle: () => void) => {
        clearTimeout(timer);
        this.waiting = this.waiting.filter((page) => page !== waiting);
        settle();
      };
      const begin = () =>
        end(() => {
          this.hold(id, workspace);
          resolve();
        });
      const fail = () => end(() => reject(new Busy('gateway', 'many large answers are under way already')));
      const waiting: WaitingPage = { id, workspace, begin, fail };
      const timer = setTimeout(fail, this.longestWaitMs);
      this.waiting.push(waiting);
    });
  }

  private hold(id: string, workspace: string | undefined): void {
    this.held.set(id, { bytes: PAGE, workspace });
  }

  private beginWaiting(): void {
    for (const page of this.waiting) if (this.hasRoom(page.workspace)) page.begin();
  }

  /** Where nothing is held there is always room, whatever the bounds. */
  private hasRoom(workspace: string | undefined): boolean {
    const all = [...this.held.values()];
    if (all.length === 0) return true;
    const own = all.filter((answer) => answer.workspace === workspace);
    return total(all) + PAGE <= this.atOnce && total(own) + PAGE <= this.atOnce * SHARE;
  }
}

function total(answers: readonly HeldAnswer[]): number {
  return answers.reduce((sum, { bytes }) => sum + bytes, 0);
}

function workspaceOf({ principal }: FastifyRequest): string | undefined {
  return principal?.workspace_id;
}
