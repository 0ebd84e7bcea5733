import type { Position } from '@tracking/ports';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import { RequestError } from '../errors/request-error.ts';
import type { Sealer } from '../server/seal.ts';

const HEADER = 'Consistency-Token';
const SEAL = { purpose: 'consistency-token', binding: '' } as const;
/** In a token, for the place of a client that has written nothing to the event store: less than any position. */
const BEGINNING = '-';
/** Credentials whose last write is remembered: the longest unused are forgotten first. */
const MAX_REMEMBERED = 10_000;

/** Whether something shows everything up to a position, now or within a time in milliseconds. */
type Reached = (position: Position, timeoutMs: number) => Promise<boolean>;

/** How long this process waits for the read models, in milliseconds. */
interface ReadYourWritesWaits {
  /** Before a list is refused. */
  readonly listMs: number;
  /** Before a write is answered all the same. */
  readonly answerMs: number;
  /** Before a write is answered without a warning of what may be a duplicate. */
  readonly duplicatesMs: number;
}

/** How far the read models have got in the event store. */
export interface ReadModelProgress<Model extends string> {
  readonly progress: {
    /** Whether the read model shows everything up to the position, now or within the time. @throws Unavailable */
    reached(model: Model, position: Position, timeoutMs: number): Promise<boolean>;
  };
  /** The same for all read models. @throws Unavailable */
  readonly allReached: Reached;
}

/**
 * A client that reads after its own acknowledged write sees it. The token of a write is its position in the event store;
 * for clients that send none, the last write of each key or session is remembered here.
 */
export class ReadYourWrites<Model extends string = string> {
  /** By the credential's id. */
  private readonly lastWrites = new LRUCache<string, Position>({ max: MAX_REMEMBERED });

  constructor(
    private readonly sealer: Sealer,
    private readonly readModels: ReadModelProgress<Model>,
    private readonly waits: ReadYourWritesWaits,
  ) {}

  /**
   * Remembers a write that is about to be acknowledged, and tells the client where it stands. Waits a little for the read
   * models, where a client that sends no token may ask another replica next, which remembers nothing.
   * @param position undefined for a write beside the event store, which every replica shows at once
   */
  async wrote(reply: FastifyReply, position: Position | undefined): Promise<void> {
    const { request } = reply;
    const before = this.lastOf(request);
    const last = latest(before, position);
    if (last !== undefined && last !== before) this.remember(request, last);
    // Not less than what the client knew before: it may keep the newest token alone.
    const known = latest(last, this.sent(request).last);
    reply.header(HEADER, this.sealer.close(known ?? BEGINNING, SEAL));
    if (position === undefined || this.waits.answerMs <= 0) return;
    // What is stored is answered, whatever the read models' store does.
    await this.readModels.allReached(position, this.waits.answerMs).catch(() => false);
  }

  /**
   * Acknowledges a write that was acknowledged before, with a token that is not less than the former one.
   * @param token of the former answer
   */
  async wroteBefore(reply: FastifyReply, token: string): Promise<void> {
    await this.wrote(reply, positionIn(this.sealer.open(token, SEAL)));
  }

  /** The last write of the request's key or session that this process knows; undefined without credentials. */
  private lastOf({ principal }: FastifyRequest): Position | undefined {
    return principal === null ? undefined : this.lastWrites.get(principal.credential_id);
  }

  private remember({ principal }: FastifyRequest, position: Position): void {
    if (principal !== null) this.lastWrites.set(principal.credential_id, position);
  }

  /**
   * What a read must not be older than: the token sent, or the last write that is remembered if that is later.
   * @throws RequestError `invalid_consistency_token`
   */
  expected(request: FastifyRequest): Position | undefined {
    const { last, hasForeign } = this.sent(request);
    if (hasForeign) {
      throw new RequestError('invalid_consistency_token', `${HEADER} must be one that a write was answered with.`);
    }
    return latest(this.lastOf(request), last);
  }

  /** Whether the read model has got there by now. */
  async shown(model: Model, position: Position | undefined, withinMs = 0): Promise<boolean> {
    return position === undefined || this.readModels.progress.reached(model, position, withinMs);
  }

  /** Resolves once the read model shows everything up to a position, or soon. Never rejects. */
  async shownSoon(model: Model, position: Position | undefined): Promise<void> {
    await this.shown(model, position, this.waits.duplicatesMs).catch(() => false);
  }

  /** Lets a list wait until the read model shows what this request expects. @throws RequestError `read_model_behind` */
  async waitFor(model: Model, request: FastifyRequest): Promise<void> {
    await this.waitUntil(
      (position, timeoutMs) => this.readModels.progress.reached(model, position, timeoutMs),
      request,
    );
  }

  /** The same for lists that are no read model's. @throws RequestError `read_model_behind` */
  async waitUntil(reached: Reached, request: FastifyRequest): Promise<void> {
    const expected = this.expected(request);
    if (expected === undefined || (await reached(expected, this.waits.listMs))) return;
    throw behind();
  }

  /** The latest position of the request's tokens that are ours, and whether it has others. */
  private sent({ headers }: FastifyRequest): { readonly last: Position | undefined; readonly hasForeign: boolean } {
    const header = headers['consistency-token'];
    if (header === undefined) return { last: undefined, hasForeign: false };
    // Several where writes were under way side by side: only we can tell which is the latest.
    const opened = String(header)
      .split(',')
      .map((token) => this.sealer.open(token.trim(), SEAL));
    return { last: opened.map(positionIn).reduce(latest, undefined), hasForeign: opened.includes(undefined) };
  }
}

/** The position that an opened token stands for. */
function positionIn(text: string | undefined): Position | undefined {
  return text === BEGINNING ? undefined : text;
}

function behind(): RequestError {
  const message = 'Your last write is stored but not listed yet; try again.';
  return new RequestError('read_model_behind', message, [], { 'Retry-After': '1' });
}

function latest(a: Position | undefined, b: Position | undefined): Position | undefined {
  return a === undefined || (b !== undefined && b > a) ? b : a;
}
