import { fileURLToPath } from 'node:url';
import { loadSync, type PackageDefinition, type ServiceDefinition } from '@grpc/proto-loader';

/** What a process is asked: a .proto file, with a gRPC service for each part of it. */
export interface ServiceProto {
  /** The process as operators know it: `shipments`, `webhooks`. */
  readonly name: string;
  readonly package: string;
  readonly path: string;
}

export const SHIPMENTS: ServiceProto = {
  name: 'shipments',
  package: 'tracking.v1',
  path: fileURLToPath(new URL('shipments.proto', import.meta.url)),
};
export const WEBHOOKS: ServiceProto = {
  name: 'webhooks',
  package: 'tracking.v1',
  path: fileURLToPath(new URL('webhooks.proto', import.meta.url)),
};

/** Of a type whose members have one request and one answer each, both JSON by their types. */
export type Operations<T> = { readonly [Name in keyof T]: (request: never) => Promise<unknown> };
/** Of a type whose members are operations: a part for each service of a .proto file. */
export type Parts<T> = { readonly [Part in keyof T]: Operations<T[Part]> };

export interface LoadedProto {
  readonly proto: ServiceProto;
  readonly definition: PackageDefinition;
  readonly parts: readonly LoadedPart[];
}
export interface LoadedPart {
  /** `Endpoints` */
  readonly service: string;
  /** The same in our code: `endpoints`. */
  readonly name: string;
  readonly rpcs: readonly Rpc[];
}
export interface Rpc {
  /** `Get` */
  readonly method: string;
  /** The same in our code: `get`. */
  readonly operation: string;
  /** For people: `Endpoints/Get`. */
  readonly name: string;
  /** Fields of the request's message. */
  readonly fields: MessageFields;
}
/** Texts, and messages of texts with their fields. */
export type MessageFields = ReadonlyMap<string, ReadonlySet<string> | 'text'>;

/** @throws Error where the file is no .proto file */
export function loadProto(proto: ServiceProto): LoadedProto {
  const definition = loadSync(proto.path, { keepCase: true });
  const parts = Object.entries(definition).flatMap(([path, entry]): readonly LoadedPart[] => {
    // Of a message.
    if ('format' in entry) return [];
    const service = path.slice(proto.package.length + 1);
    const rpcs = Object.entries(entry as ServiceDefinition).map(([method, { requestType }]) => ({
      method,
      operation: inCode(method),
      name: `${service}/${method}`,
      fields: fieldsOf(requestType.type as DescriptorProto, definition),
    }));
    return [{ service, name: inCode(service), rpcs }];
  });
  return { proto, definition, parts };
}

/** Names of the operations that the .proto file has, by part and in order. */
export function operationsOf(proto: ServiceProto): Readonly<Record<string, readonly string[]>> {
  const { parts } = loadProto(proto);
  return Object.fromEntries(parts.map(({ name, rpcs }) => [name, rpcs.map(({ operation }) => operation).sort()]));
}

const inCode = (name: string) => name.charAt(0).toLowerCase() + name.slice(1);

interface DescriptorProto {
  readonly field: readonly { readonly name: string; readonly type: string; readonly typeName: string }[];
}

function fieldsOf({ field: fields }: DescriptorProto, definition: PackageDefinition): MessageFields {
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
