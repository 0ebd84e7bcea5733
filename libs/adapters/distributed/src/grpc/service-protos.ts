import { fileURLToPath } from 'node:url';
import { loadSync, type MethodDefinition, type PackageDefinition, type ServiceDefinition } from '@grpc/proto-loader';
import { DomainError, type FieldError, PreconditionFailedError } from '@tracking/contracts';
import { BusyError, type CausingRequest, UnavailableError } from '@tracking/ports';

/** The operations of a process: a .proto file with a gRPC service for each part. */
export interface GrpcServiceProtoFile {
  /** Name of the process for operators: `shipments`, `projections`, `webhooks`. */
  readonly name: string;
  readonly package: string;
  readonly path: string;
}

export const SHIPMENTS_PROTO: GrpcServiceProtoFile = {
  name: 'shipments',
  package: 'tracking.v1',
  path: fileURLToPath(new URL('shipments.proto', import.meta.url)),
};
export const PROJECTIONS_PROTO: GrpcServiceProtoFile = {
  name: 'projections',
  package: 'tracking.v1',
  path: fileURLToPath(new URL('projections.proto', import.meta.url)),
};
export const WEBHOOKS_PROTO: GrpcServiceProtoFile = {
  name: 'webhooks',
  package: 'tracking.v1',
  path: fileURLToPath(new URL('webhooks.proto', import.meta.url)),
};

/**
 * Type of an operation: it takes one request and returns one response, both JSON. A streamed operation sends messages
 * to a listener until it ends or the signal aborts.
 */
type Operations<T> = {
  readonly [Name in keyof T]: (request: never, onMessage: never, signal: AbortSignal) => Promise<unknown>;
};
/** Type of the operations of a process: one part for each service of the .proto file. */
export type Parts<T> = { readonly [Part in keyof T]: Operations<T[Part]> };

/** The gRPC service that carries calls of other services over one long call. */
export const MULTIPLEXED_CALLS_GRPC_SERVICE_NAME = 'Calls';

export interface LoadedProto {
  readonly proto: GrpcServiceProtoFile;
  readonly definition: PackageDefinition;
  /** The rpc of {@link MULTIPLEXED_CALLS_GRPC_SERVICE_NAME}. */
  readonly callStream: MethodDefinition<CallBatch, AnswerBatch>;
  readonly parts: readonly LoadedGrpcServiceAndRpcs[];
}
export interface LoadedGrpcServiceAndRpcs {
  /** Name of the part, such as `Endpoints`. */
  readonly service: string;
  /** Name of the part in TypeScript, such as `endpoints`. */
  readonly name: string;
  readonly rpcs: readonly ProtoOperation[];
}
export interface ProtoOperation {
  /** Name of the rpc, such as `Get`. */
  readonly method: string;
  /** Name of the rpc in TypeScript, such as `get`. */
  readonly operation: string;
  /** Name of the operation in log lines, such as `Endpoints/Get`. */
  readonly name: string;
  /** Fields of the request's message. */
  readonly fields: MessageFields;
  /** True if the request has a command id. Other operations only read, or their writes are idempotent. */
  readonly isCommand: boolean;
  /** True if the response is a stream of messages. */
  readonly isStreamed: boolean;
  readonly serializeRequest: (request: GrpcRequestMessage) => Buffer;
  readonly deserializeRequest: (bytes: Buffer) => GrpcRequestMessage;
}
/** Field types of a request's message: text, or a message of texts. */
type MessageFields = ReadonlyMap<string, ReadonlySet<string> | 'text'>;

/** Loads a .proto file. @throws Error if it is invalid */
export function loadProto(proto: GrpcServiceProtoFile): LoadedProto {
  const definition = loadSync(proto.path, { keepCase: true });
  const parts = Object.entries(definition).flatMap(([path, entry]): readonly LoadedGrpcServiceAndRpcs[] => {
    // Entries with a `format` are messages, not services.
    if ('format' in entry) return [];
    const service = path.slice(proto.package.length + 1);
    if (service === MULTIPLEXED_CALLS_GRPC_SERVICE_NAME) return [];
    const rpcs = Object.entries(entry as ServiceDefinition).map(([method, rpc]) => {
      const { requestType, responseStream, requestSerialize, requestDeserialize } = rpc;
      const fields = readProtoMessageFields(requestType.type as DescriptorProto, definition);
      const isCommand = fields.has('id');
      return {
        method,
        operation: lowerCaseFirstLetter(method),
        name: `${service}/${method}`,
        fields,
        isCommand,
        isStreamed: responseStream,
        serializeRequest: requestSerialize,
        deserializeRequest: requestDeserialize as ProtoOperation['deserializeRequest'],
      };
    });
    return [{ service, name: lowerCaseFirstLetter(service), rpcs }];
  });
  const { Run: callStream } = definition[`${proto.package}.${MULTIPLEXED_CALLS_GRPC_SERVICE_NAME}`] as unknown as {
    readonly Run: LoadedProto['callStream'];
  };
  return { proto, definition, callStream, parts };
}

/** Returns the names of the operations in the .proto file, grouped by service part, in the order of the file. */
export function listProtoOperations(proto: GrpcServiceProtoFile): Readonly<Record<string, readonly string[]>> {
  const { parts } = loadProto(proto);
  return Object.fromEntries(parts.map(({ name, rpcs }) => [name, rpcs.map(({ operation }) => operation).sort()]));
}

const lowerCaseFirstLetter = (name: string) => name.charAt(0).toLowerCase() + name.slice(1);

interface DescriptorProto {
  readonly field: readonly { readonly name: string; readonly type: string; readonly typeName: string }[];
}

function readProtoMessageFields({ field: fields }: DescriptorProto, definition: PackageDefinition): MessageFields {
  const messageNamed = (typeName: string) => {
    const [, message] = Object.entries(definition).find(([path]) => path.endsWith(`.${typeName}`)) ?? [];
    return message?.type as DescriptorProto;
  };
  return new Map(
    fields.map(({ name, type, typeName }) => [
      name,
      type === 'TYPE_MESSAGE' ? new Set(messageNamed(typeName).field.map((field) => field.name)) : 'text',
    ]),
  );
}

/** A request of any operation: the fields of its message, and all other fields as JSON. */
export interface GrpcRequestMessage {
  readonly json?: string;
  readonly [field: string]: unknown;
}

interface RefusedCallAnswer {
  readonly code: string;
  readonly message: string;
  readonly details?: readonly FieldError[];
  readonly version?: number;
}
interface EngineFailureMessage {
  readonly engine: string;
  readonly message: string;
}

/** The message `Answer`, the result of any operation. It has one field, or none if the operation returns nothing. */
export interface OperationAnswerMessage {
  readonly json?: string;
  readonly refused?: RefusedCallAnswer;
  readonly unavailable?: EngineFailureMessage;
  readonly busy?: EngineFailureMessage;
  readonly failed?: string;
}

/** Calls that are sent together over a stream. */
export interface CallBatch {
  readonly calls?: readonly CallMessage[];
  /** Ids of calls whose callers no longer wait. */
  readonly cancelled?: readonly number[];
}
export interface CallMessage {
  readonly id: number;
  /** Name of the rpc in log lines. */
  readonly method: string;
  readonly request: Buffer;
  readonly origin?: Partial<CausingRequest>;
}
/** Answers that are sent together over a stream. */
export interface AnswerBatch {
  readonly answers?: readonly { readonly id: number; readonly answer?: OperationAnswerMessage }[];
  /** Ids of calls that were not started. */
  readonly refused?: readonly number[];
  /** True if the service starts no further calls. */
  readonly stopping?: boolean;
}

/** Creates the message of a request. Values that its fields cannot represent are sent as JSON. */
export function toGrpcRequestMessage(request: object, fields: MessageFields): GrpcRequestMessage {
  const entries = Object.entries(request);
  const fits = ([name, value]: readonly [string, unknown]) => {
    const field = name === 'json' ? undefined : fields.get(name);
    return field === 'text' ? isWellFormedText(value) : field !== undefined && isMessageOfKnownTextFields(value, field);
  };
  const rest = Object.fromEntries(entries.filter((entry) => !fits(entry)));
  return { ...Object.fromEntries(entries.filter(fits)), json: JSON.stringify(rest) };
}

/** Returns true for strings without lone surrogates, which UTF-8 cannot represent but JSON can. */
function isWellFormedText(value: unknown): boolean {
  return typeof value === 'string' && value.isWellFormed();
}

function isMessageOfKnownTextFields(value: unknown, fields: ReadonlySet<string>): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(value).every(([name, text]) => isWellFormedText(text) && fields.has(name));
}

/** Reads the request from its gRPC message. @throws SyntaxError if `json` is invalid */
export function parseGrpcRequest({ json, ...fields }: GrpcRequestMessage): object {
  // gRPC sets `json` to an empty text if the sender left the field out.
  return { ...(json ? (JSON.parse(json) as object) : {}), ...fields };
}

export function toGrpcAnswerMessage(answer: unknown): OperationAnswerMessage {
  return answer === undefined ? {} : { json: JSON.stringify(answer) };
}

/** Returns the error message for the caller; undefined if the service must not reveal its details. */
export function convertErrorToGrpcAnswerMessage(error: unknown): OperationAnswerMessage | undefined {
  if (error instanceof DomainError) {
    const { code, message, details } = error;
    const version = error instanceof PreconditionFailedError ? error.version : null;
    return { refused: { code, message, details, ...(version !== null && { version }) } };
  }
  if (!(error instanceof UnavailableError)) return undefined;
  const absence = { engine: error.engine, message: error.reason };
  return error instanceof BusyError ? { busy: absence } : { unavailable: absence };
}

/**
 * Returns the result in an answer. @throws the error that the service sent, or a plain Error if the service keeps its
 * details private
 */
export function readAnswerResultOrThrow({ json, refused, unavailable, busy, failed }: OperationAnswerMessage): unknown {
  if (json !== undefined) return JSON.parse(json);
  if (refused !== undefined) throw convertRefusalToDomainError(refused);
  if (unavailable !== undefined) throw new UnavailableError(unavailable.engine, unavailable.message);
  if (busy !== undefined) throw new BusyError(busy.engine, busy.message);
  if (failed !== undefined) throw new Error(failed);
  return undefined;
}

function convertRefusalToDomainError({ code, message, details = [], version }: RefusedCallAnswer): DomainError {
  if (code === 'precondition_failed') return new PreconditionFailedError(version ?? null);
  return new DomainError(code as DomainError['code'], message, details);
}
