import { Client, Metadata, credentials, loadPackageDefinition, type ServiceClientConstructor } from '@grpc/grpc-js';
import { loadFileDescriptorSetFromBuffer, loadSync } from '@grpc/proto-loader';

/** Messages of server reflection: https://github.com/grpc/grpc/blob/master/doc/server-reflection.md */
interface ReflectionResponse {
  readonly list_services_response?: { readonly service: readonly { readonly name: string }[] };
  readonly file_descriptor_response?: { readonly file_descriptor_proto: readonly Buffer[] };
}
type ReflectionCall = (request: object) => Promise<ReflectionResponse>;

/** Client that knows only what server reflection returns, like `grpcurl`. */
export class GrpcReflectionClient {
  private readonly metadata = new Metadata();
  private readonly client: Client;

  constructor(
    private readonly address: string,
    token?: string,
  ) {
    if (token !== undefined) this.metadata.set('authorization', `Bearer ${token}`);
    this.client = new Client(address, credentials.createInsecure());
  }

  async listGrpcServices(): Promise<readonly string[]> {
    const { list_services_response: listed } = await this.callReflection((ask) => ask({ list_services: '' }));
    return (listed?.service ?? []).map(({ name }) => name);
  }

  /** Returns descriptors of the files that a service needs. @param service name with its package */
  async fetchProtoFileDescriptors(service: string): Promise<readonly Buffer[]> {
    const { file_descriptor_response: files } = await this.callReflection((ask) =>
      ask({ file_containing_symbol: service }),
    );
    return files?.file_descriptor_proto ?? [];
  }

  /** Calls an operation and returns the message as an object. @param service name with its package */
  async callGrpcOperationByReflection(service: string, rpc: string, request: object): Promise<unknown> {
    const definition = loadFileDescriptorSetFromBuffer(
      encodeDescriptorSet(await this.fetchProtoFileDescriptors(service)),
      {
        keepCase: true,
      },
    );
    const path = service.split('.');
    const Service = path.reduce<unknown>(
      (within, name) => (within as Readonly<Record<string, unknown>>)[name],
      loadPackageDefinition(definition),
    ) as ServiceClientConstructor;
    const client = new Service(this.address, credentials.createInsecure());
    const called = Promise.withResolvers<unknown>();
    const call = client[rpc]?.bind(client) as (...given: readonly unknown[]) => void;
    call(request, this.metadata, (error: unknown, answer: unknown) =>
      error === null ? called.resolve(answer) : called.reject(error as Error),
    );
    return called.promise.finally(() => client.close());
  }

  closeClient(): void {
    this.client.close();
  }

  private async callReflection(
    question: (ask: ReflectionCall) => Promise<ReflectionResponse>,
  ): Promise<ReflectionResponse> {
    const file = import.meta.resolve('@grpc/reflection/build/proto/grpc/reflection/v1/reflection.proto');
    const definition = loadSync(new URL(file).pathname, { keepCase: true });
    const service = definition['grpc.reflection.v1.ServerReflection'] as ServiceClientConstructor['service'];
    const { path, requestSerialize, responseDeserialize } = service['ServerReflectionInfo']!;
    const stream = this.client.makeBidiStreamRequest<object, ReflectionResponse>(
      path,
      requestSerialize,
      responseDeserialize,
      this.metadata,
    );
    const answered = Promise.withResolvers<ReflectionResponse>();
    stream.on('data', answered.resolve).on('error', answered.reject);
    const ask: ReflectionCall = (request) => {
      stream.write(request);
      return answered.promise;
    };
    return question(ask).finally(() => stream.end());
  }
}

/** Encodes a `FileDescriptorSet`, whose only field is repeated and length-prefixed. */
function encodeDescriptorSet(files: readonly Buffer[]): Buffer {
  const FIRST_FIELD = 0x0a;
  return Buffer.concat(files.flatMap((file) => [Buffer.from([FIRST_FIELD, ...encodeVarint(file.length)]), file]));
}

function encodeVarint(number: number): readonly number[] {
  return number < 128 ? [number] : [(number % 128) + 128, ...encodeVarint(Math.floor(number / 128))];
}
