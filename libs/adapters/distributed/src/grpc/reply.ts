import { DomainError, type FieldError, type JsonValue } from '@tracking/contracts';
import { Busy, Unavailable } from '@tracking/ports';

interface Refusal {
  readonly code: DomainError['code'];
  readonly message: string;
  readonly details: readonly FieldError[];
}
interface Absence {
  readonly engine: string;
  readonly message: string;
}

/** What comes back from a service: an answer, or an error with all its fields. */
export type Reply =
  | { readonly answer: JsonValue }
  | { readonly refused: Refusal }
  | { readonly unavailable: Absence }
  | { readonly busy: Absence }
  | { readonly failed: string };

/** The error as a caller may see it; undefined where its details must stay in the service. */
export function replyOf(error: unknown): Reply | undefined {
  if (error instanceof DomainError) {
    const { code, message, details } = error;
    return { refused: { code, message, details } };
  }
  if (!(error instanceof Unavailable)) return undefined;
  const { engine, message } = error;
  // Whoever makes it again puts the engine before the message again.
  const absence = { engine, message: message.slice(`${engine}: `.length) };
  return error instanceof Busy ? { busy: absence } : { unavailable: absence };
}

/** @throws what the service threw, as itself; a plain Error for what it keeps to itself */
export function answerOf(reply: Reply): JsonValue {
  if ('answer' in reply) return reply.answer;
  if ('refused' in reply) throw new DomainError(reply.refused.code, reply.refused.message, reply.refused.details);
  if ('unavailable' in reply) throw new Unavailable(reply.unavailable.engine, reply.unavailable.message);
  if ('busy' in reply) throw new Busy(reply.busy.engine, reply.busy.message);
  throw new Error(reply.failed);
}
