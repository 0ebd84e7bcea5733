import { promisify } from 'node:util';
import { constants, gunzip, gzip } from 'node:zlib';
import type { FastifyReply } from 'fastify';

const compress = promisify(gzip);
const decompress = promisify(gunzip);

/**
 * Headers that belong to an answer and come again with it; of `Consistency-Token` the later of the stored one and what
 * is known by then. All others are of the single request: its id, its quota, what every answer has. `Set-Cookie` because a client that never saw the answer to its sign-in has no other way to its session.
 */
const HEADERS = ['content-type', 'location', 'etag', 'consistency-token', 'set-cookie'] as const;

/** An answer as it was first sent. */
export interface StoredAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[]>>;
  /** Every body of ours is UTF-8. */
  readonly body: string;
}

/** Encrypts stored answers. A sealed text opens only in the context for which it was sealed. */
export interface AnswerBox {
  seal(text: string, context: string): string;
  /** @throws Error where the text was sealed with another key, for another context, or was altered */
  open(sealed: string, context: string): string;
}

/** What a command can come to, beside success. Other refusals are of the request as it is: it was not carried out. */
const REFUSALS: ReadonlySet<number> = new Set([404, 409, 412]);

/** Whether an answer of this status is the answer to every repeat. */
export function isKept(status: number): boolean {
  return status < 300 || REFUSALS.has(status);
}

/** What is about to be sent. */
export function answerOf(reply: FastifyReply, payload: unknown): StoredAnswer {
  if (payload !== undefined && payload !== null && typeof payload !== 'string' && !Buffer.isBuffer(payload)) {
    throw new TypeError('an answer that is a stream cannot be kept');
  }
  const headers: Record<string, string | string[]> = {};
  for (const name of HEADERS) {
    const value = reply.getHeader(name);
    if (value !== undefined) headers[name] = Array.isArray(value) ? value : String(value);
  }
  return { status: reply.statusCode, headers, body: payload?.toString() ?? '' };
}

/** Makes the reply this answer, whatever it was to be; its body is left to send. */
export function giveAnswer(reply: FastifyReply, { status, headers }: StoredAnswer): FastifyReply {
  return withoutAnswer(reply).code(status).headers(headers).header('Idempotency-Replayed', 'true');
}

/** Takes from the reply what belongs to an answer that is not sent. */
export function withoutAnswer(reply: FastifyReply): FastifyReply {
  for (const name of HEADERS) reply.removeHeader(name);
  return reply;
}

/** Characters from which on an answer is compressed: it would take a while, and small ones gain little. */
const LARGE = 64 * 1024;
/** Marks what is compressed: no JSON begins with it. */
const COMPRESSED = 'gzip:';

/** @param claimId the answer opens for this claim alone */
export async function sealAnswer(box: AnswerBox, claimId: string, answer: StoredAnswer): Promise<string> {
  const text = JSON.stringify(answer);
  if (text.length < LARGE) return box.seal(text, claimId);
  // Beside the loop, which others wait for.
  const bytes = await compress(text, { level: constants.Z_BEST_SPEED });
  return box.seal(COMPRESSED + bytes.toString('base64'), claimId);
}

export async function openAnswer(box: AnswerBox, claimId: string, sealed: string): Promise<StoredAnswer> {
  const text = box.open(sealed, claimId);
  if (!text.startsWith(COMPRESSED)) return JSON.parse(text) as StoredAnswer;
  const bytes = await decompress(Buffer.from(text.slice(COMPRESSED.length), 'base64'));
  return JSON.parse(bytes.toString()) as StoredAnswer;
}
