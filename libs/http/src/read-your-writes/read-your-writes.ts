import type { Position } from '@tracking/ports';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import { RequestError } from '../errors/request-error.ts';
import type { TokenSigner } from '../server/seal.ts';

const CONSISTENCY_TOKEN_HEADER = 'Consistency-Token';
/** Header of a list during a takeover: seconds since the first change was recorded that the list may lack. */
const READ_MODEL_AGE_HEADER = 'Read-Model-Age';
/** Maximum milliseconds that a list waits for a read model during a takeover, which takes longer than a list waits. */
const MAX_LIST_WAIT_DURING_TAKEOVER_MS = 1_000;
const CONSISTENCY_TOKEN_SEAL = { purpose: 'consistency-token', binding: '' } as const;
/** Text in the token of a client that has written nothing to the event store. This position sorts before all others. */
const TOKEN_OF_NO_WRITES = '-';
/** Number of keys and sessions whose last write is remembered. The least recently used are forgotten first. */
const MAX_CREDENTIALS_WITH_LAST_WRITE = 10_000;

/** Times to wait for the read models, in milliseconds. */
interface ReadYourWritesWaitLimits {
  /** Longest wait of a list before it is refused. */
  readonly listMs: number;
  /** Longest wait of a write before its response is sent regardless. */
  readonly writeResponseMs: number;
  /** Longest wait of a write before the check for duplicates is skipped. */
  readonly duplicatesMs: number;
}

/** Progress of the read models in the event store. */
export interface ReadModelProgress<Model extends string> {
  readonly progress: {
    /**
     * Resolves to true if the read model shows everything up to the position, now or within the time in milliseconds.
     * @throws UnavailableError
     */
    reached(model: Model, position: Position, timeoutMs: number): Promise<boolean>;
    /**
     * Returns the milliseconds since the first event was recorded that the read model may lack, while a process takes
     * over its projection from another; undefined at all other times. Absent if there are no takeovers.
     * @throws UnavailableError
     */
    findTakeoverAge?(model: Model): Promise<number | undefined>;
  };
  /**
   * Resolves to true if all read models show everything up to the position, now or within the time in milliseconds.
   * @throws UnavailableError
   */
  waitForAllReadModels(position: Position, timeoutMs: number): Promise<boolean>;
}

/**
 * Ensures that clients see their own acknowledged writes. The consistency token of a write contains the write's
 * position in the event store. For clients that send no token, this process remembers the last write of each key or
 * session.
 */
export class ReadYourWrites<Model extends string = string> {
  /** Position of the last write, by the id of the credential. */
  private readonly lastWrites = new LRUCache<string, Position>({ max: MAX_CREDENTIALS_WITH_LAST_WRITE });

  constructor(
    private readonly sealer: TokenSigner,
    private readonly readModels: ReadModelProgress<Model>,
    private readonly waits: ReadYourWritesWaitLimits,
  ) {}

  /**
   * Remembers a write that is about to be acknowledged, and adds its token to the response. Waits for the read models
   * if the client's next request may reach another replica without a token.
   * @param position undefined for a write outside the event store, which every replica shows immediately
   */
  async rememberWriteAndAddToken(reply: FastifyReply, position: Position | undefined): Promise<void> {
    const { request } = reply;
    const before = this.findPositionOfLastWrite(request);
    const last = chooseLaterPosition(before, position);
    if (last !== undefined && last !== before) this.rememberLastWrite(request, last);
    // Return the later of both tokens, because the client may keep only the newest token.
    const known = chooseLaterPosition(last, this.readConsistencyTokens(request).last);
    reply.header(
      CONSISTENCY_TOKEN_HEADER,
      this.sealer.sealTextWithMac(known ?? TOKEN_OF_NO_WRITES, CONSISTENCY_TOKEN_SEAL),
    );
    if (position === undefined || this.waits.writeResponseMs <= 0) return;
    // Ignore a timeout: the write is stored, so the client gets its response in any case.
    await this.readModels.waitForAllReadModels(position, this.waits.writeResponseMs).catch(() => false);
  }

  /**
   * Acknowledges a repeated write. The response has the token of the first response, or a later token that the client
   * sent.
   * @param token of the first response
   */
  async addConsistencyTokenToRepeatedWriteResponse(reply: FastifyReply, token: string): Promise<void> {
    await this.rememberWriteAndAddToken(
      reply,
      getPositionInToken(this.sealer.readTextOfVerifiedToken(token, CONSISTENCY_TOKEN_SEAL)),
    );
  }

  /** Returns the last known write of the request's key or session; undefined without credentials. */
  private findPositionOfLastWrite({ principal }: FastifyRequest): Position | undefined {
    return principal === null ? undefined : this.lastWrites.get(principal.credential_id);
  }

  private rememberLastWrite({ principal }: FastifyRequest, position: Position): void {
    if (principal !== null) this.lastWrites.set(principal.credential_id, position);
  }

  /**
   * Returns the event store position that a read must include: the later of the token's position and the client's last
   * write.
   * @throws RequestError `invalid_consistency_token`
   */
  readRequiredReadPosition(request: FastifyRequest): Position | undefined {
    const { last, hasForeign } = this.readConsistencyTokens(request);
    if (hasForeign) {
      throw new RequestError(
        'invalid_consistency_token',
        `${CONSISTENCY_TOKEN_HEADER} must be a token from the response to a write.`,
      );
    }
    return chooseLaterPosition(this.findPositionOfLastWrite(request), last);
  }

  /**
   * Validates the token of a read that is always up to date, such as a read from a stream.
   * @throws RequestError `invalid_consistency_token`
   */
  checkConsistencyToken(request: FastifyRequest): void {
    this.readRequiredReadPosition(request);
  }

  /** Resolves to true if the read model reaches the position within the time, or if there is no position. */
  async waitUntilReadModelReachesPosition(
    model: Model,
    position: Position | undefined,
    withinMs = 0,
  ): Promise<boolean> {
    return position === undefined || this.readModels.progress.reached(model, position, withinMs);
  }

  /**
   * Waits briefly until the read model shows everything up to a position. Resolves even if the read model does not get
   * there.
   */
  async waitForModelBriefly(model: Model, position: Position | undefined): Promise<void> {
    await this.waitUntilReadModelReachesPosition(model, position, this.waits.duplicatesMs).catch(() => false);
  }

  /**
   * Waits until the read model has reached the position that the request expects.
   * @throws RequestError `read_model_behind`
   */
  async waitForReadModel(model: Model, request: FastifyRequest): Promise<void> {
    const expected = this.readRequiredReadPosition(request);
    if (await this.waitUntilReadModelReachesPosition(model, expected, this.waits.listMs)) return;
    throw createOutdatedReadModelError();
  }

  /**
   * Waits like `waitForReadModel`, for a list. While a process takes over the projection from another, the wait is
   * shorter, and the list is served in any case. Its response then has the header `Read-Model-Age`.
   * @throws RequestError `read_model_behind`
   */
  async waitForReadModelOfList(model: Model, request: FastifyRequest): Promise<void> {
    const { progress } = this.readModels;
    const { listMs } = this.waits;
    const firstWaitMs = Math.min(MAX_LIST_WAIT_DURING_TAKEOVER_MS, listMs);
    const expected = this.readRequiredReadPosition(request);
    if (await this.waitUntilReadModelReachesPosition(model, expected, firstWaitMs)) {
      // The list has all that the client wrote. Without the age, it is served as at all other times.
      request.readModelAgeMs = (await progress.findTakeoverAge?.(model).catch(() => undefined)) ?? null;
      return;
    }
    let ageMs = await progress.findTakeoverAge?.(model);
    if (ageMs === undefined) {
      if (await this.waitUntilReadModelReachesPosition(model, expected, listMs - firstWaitMs)) return;
      ageMs = await progress.findTakeoverAge?.(model);
    }
    if (ageMs === undefined) throw createOutdatedReadModelError();
    request.readModelAgeMs = ageMs;
  }

  /** Returns the latest position of the request's valid tokens, and whether it has invalid ones. */
  private readConsistencyTokens({ headers }: FastifyRequest): {
    readonly last: Position | undefined;
    readonly hasForeign: boolean;
  } {
    const header = headers['consistency-token'];
    if (header === undefined) return { last: undefined, hasForeign: false };
    // Accept several tokens: a client with parallel writes cannot tell which token is the latest.
    const opened = String(header)
      .split(',')
      .map((token) => this.sealer.readTextOfVerifiedToken(token.trim(), CONSISTENCY_TOKEN_SEAL));
    return {
      last: opened.map(getPositionInToken).reduce(chooseLaterPosition, undefined),
      hasForeign: opened.includes(undefined),
    };
  }
}

/** Adds the age of the read model to the response of a list that was served during a takeover. */
export function addReadModelAgeHeader({ readModelAgeMs }: FastifyRequest, reply: FastifyReply): void {
  if (readModelAgeMs !== null && reply.statusCode === 200)
    reply.header(READ_MODEL_AGE_HEADER, String(Math.ceil(readModelAgeMs / 1_000)));
}

/** Returns the position in a verified token. */
function getPositionInToken(text: string | undefined): Position | undefined {
  return text === TOKEN_OF_NO_WRITES ? undefined : text;
}

function createOutdatedReadModelError(): RequestError {
  const message = 'Your last write is stored but not yet in the list; try again.';
  return new RequestError('read_model_behind', message, [], { 'Retry-After': '1' });
}

function chooseLaterPosition(a: Position | undefined, b: Position | undefined): Position | undefined {
  return a === undefined || (b !== undefined && b > a) ? b : a;
}
