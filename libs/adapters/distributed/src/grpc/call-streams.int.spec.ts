import { Server, ServerCredentials, type ServiceDefinition, type UntypedServiceImplementation } from '@grpc/grpc-js';
import { THINGS_PROTO, type ThingsOperations, openGrpcChannel } from '../../test/grpc/grpc-subject.ts';
import { CallStreamHandler } from './call-stream-handler.ts';
import { loadProto, type GrpcRequestMessage, toGrpcAnswerMessage } from './service-protos.ts';

const LONG_MS = 20_000;
const { definition, parts } = loadProto(THINGS_PROTO);

describe('commands with a routing key', () => {
  const closing: (() => unknown)[] = [];
  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close();
  });

  /** Starts a server with one of the services of the .proto file, and returns a caller of its operations. */
  async function openCallerOfServer(service: string, implementation: UntypedServiceImplementation) {
    const server = new Server();
    server.addService(definition[`tracking.v1.${service}`] as ServiceDefinition, implementation);
    const port = await new Promise<number>((resolve, reject) =>
      server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
        error === null ? resolve(bound) : reject(error),
      ),
    );
    closing.push(() => server.forceShutdown());
    const channel = openGrpcChannel(`ipv4:127.0.0.1:${port}`);
    closing.push(() => channel.closeChannel());
    return channel.createGrpcClientOperations<ThingsOperations>(THINGS_PROTO, LONG_MS, () => 'key').things;
  }

  it('share a stream and its messages', async () => {
    let [streams, batches] = [0, 0];
    const handler = new CallStreamHandler({
      rpcs: new Map(parts.flatMap(({ rpcs }) => rpcs.map((rpc) => [rpc.name, rpc]))),
      answerCall: (_method, { json }) => Promise.resolve(toGrpcAnswerMessage(json)),
      turnsBeforeStart: 0,
    });
    const things = await openCallerOfServer('Calls', {
      Run: (call: Parameters<typeof handler.serveCallStream>[0]) => {
        streams += 1;
        call.on('data', () => (batches += 1));
        handler.serveCallStream(call);
      },
      // The first call waits for a connection and therefore uses its own rpc, which this server does not have.
    });
    await expect(things.echo({ number: 0 })).rejects.toThrow('things.Things/Echo: UNIMPLEMENTED');
    const requests = Array.from({ length: 20 }, (_, number) => ({ number }));
    const answers = await Promise.all(requests.map((request) => things.echo(request)));
    expect(answers).toEqual(requests.map((request) => JSON.stringify(request)));
    expect([streams, batches]).toEqual([1, 1]);
    // A large request would delay others, and uses its own rpc.
    await expect(things.echo({ text: 'x'.repeat(20_000) })).rejects.toThrow('things.Things/Echo: UNIMPLEMENTED');
  });

  it('use their own rpcs if the service has no streams, because its release is older', async () => {
    const received: string[] = [];
    const things = await openCallerOfServer('Things', {
      Echo: ({ request }: { request: GrpcRequestMessage }, answer: (error: null, message: object) => void) => {
        received.push(request.json ?? '');
        answer(null, toGrpcAnswerMessage(request.json));
      },
    });
    const expected: string[] = [];
    for (let number = 0; number < 5; number += 1) {
      expected.push(JSON.stringify({ number }));
      expect(await things.echo({ number })).toBe(expected.at(-1));
    }
    expect(received).toEqual(expected);
  });
});
