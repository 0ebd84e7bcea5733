import { DomainError, type FieldError, PreconditionFailed } from '@tracking/contracts';
import { Busy, Unavailable } from '@tracking/ports';
import type { MessageFields } from './service-protos.ts';

/** A request of any operation: the fields that its message has, and JSON for the rest. */
export interface RequestMessage {
  readonly json?: string;
  readonly [field: string]: unknown;
}

interface Refusal {
  readonly code: string;
  readonly message: string;
  readonly details?: readonly FieldError[];
  readonly version?: number;
}
interface Absence {
  readonly engine: string;
  readonly message: string;
}

/** The message `Answer`: what comes back of any operation. One field, or none where there is nothing to answer. */
export interface AnswerMessage {
  readonly json?: string;
  readonly refused?: Refusal;
  readonly unavailable?: Absence;
  readonly busy?: Absence;
  readonly failed?: string;
}

/** Nothing is lost: what a field of the message cannot hold goes with the rest. */
export function requestMessage(request: object, fields: MessageFields): RequestMessage {
  const entries = Object.entries(request);
  const fits = ([name, value]: readonly [string, unknown]) => {
    const field = name === 'json' ? undefined : fields.get(name);
    return field === 'text' ? isText(value) : field !== undefined && isMessage(value, field);
  };
  const rest = Object.fromEntries(entries.filter((entry) => !fits(entry)));
  return { ...Object.fromEntries(entries.filter(fits)), json: JSON.stringify(rest) };
}

/** UTF-8 has no half of a pair of surrogates, JSON has. */
function isText(value: unknown): boolean {
  return typeof value === 'string' && value.isWellFormed();
}

function isMessage(value: unknown, fields: ReadonlySet<string>): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(value).every(([name, text]) => isText(text) && fields.has(name));
}

/** @throws SyntaxError where `json` is none */
export function requestOf({ json, ...fields }: RequestMessage): object {
  // Without, it is empty: so does gRPC tell of a field that was not sent.
  return { ...(json ? (JSON.parse(json) as object) : {}), ...fields };
}

export function answerMessage(answer: unknown): AnswerMessage {
  return answer === undefined ? {} : { json: JSON.stringify(answer) };
}

/** The error as a caller may see it; undefined where its details must stay in the service. */
export function errorMessage(error: unknown): AnswerMessage | undefined {
  if (error instanceof DomainError) {
    const { code, message, details } = error;
    const version = error instanceof PreconditionFailed ? error.version : null;
    return { refused: { code, message, details, ...(version !== null && { version }) } };
  }
  if (!(error instanceof Unavailable)) return undefined;
  const absence = { engine: error.engine, message: error.reason };
  return error instanceof Busy ? { busy: absence } : { unavailable: absence };
}

/** @throws what the service threw, as itself; a plain Error for what it keeps to itself */
export function answerOf({ json, refused, unavailable, busy, failed }: AnswerMessage): unknown {
  if (json !== undefined) return JSON.parse(json);
  if (refused !== undefined) throw refusalOf(refused);
  if (unavailable !== undefined) throw new Unavailable(unavailable.engine, unavailable.message);
  if (busy !== undefined) throw new Busy(busy.engine, busy.message);
  if (failed !== undefined) throw new Error(failed);
  return undefined;
}

function refusalOf({ code, message, details = [], version }: Refusal): DomainError {
  if (code === 'precondition_failed') return new PreconditionFailed(version ?? null);
  return new DomainError(code as DomainError['code'], message, details);
}
