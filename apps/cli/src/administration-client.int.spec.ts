import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { runCommandLineForTest } from '../test/run.ts';
import { loadConfig } from './config.ts';

/** Writes to a stub of a gateway's management port, whose responses the test sets. */
describe('a write to a gateway', () => {
  let server: Server;
  let keys: unknown[];
  let answers: ((incoming: IncomingMessage, response: ServerResponse) => unknown)[];

  beforeEach(async () => {
    keys = [];
    answers = [];
    server = createServer((incoming, response) => {
      keys.push(incoming.headers['idempotency-key']);
      const answer = answers.shift() ?? create;
      incoming.resume().on('end', () => answer(incoming, response));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });
  afterEach(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  const respond = (status: number, body: object) => (_: IncomingMessage, response: ServerResponse) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  const refuse = (status: number, code: string) => respond(status, { error: { code, message: code } });
  const create = respond(201, { id: 'wsp_a', name: 'Acme' });
  const breakConnection = (incoming: IncomingMessage) => incoming.socket.destroy();
  const endEarly = (_: IncomingMessage, response: ServerResponse) => {
    response.writeHead(201, { 'content-type': 'application/json', 'content-length': '100' });
    response.write('{"id":', () => response.destroy());
  };

  function run(line = 'workspaces create --name Acme'): ReturnType<typeof runCommandLineForTest> {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    return runCommandLineForTest(
      loadConfig({ ADMINISTRATION_URL: url, ADMINISTRATION_TOKEN: 'token' }),
      line.split(' '),
    );
  }

  it.each([
    ['breaks', breakConnection],
    ['ends early', endEarly],
    ['is 503', refuse(503, 'unavailable')],
    ['is 502 of a proxy', respond(502, {})],
    ['says that the first attempt is in progress', refuse(409, 'idempotency_in_progress')],
  ])('is sent again with its idempotency key if the response %s', async (_what, answer) => {
    answers = [answer, answer];
    expect(await run()).toEqual({ code: 0, out: 'wsp_a\n', err: '' });
    expect(keys).toEqual([keys[0], keys[0], keys[0]]);
    expect(keys[0]).toMatch(/^[0-9a-f]{64}$/);
  });

  it('has another key in each run of the command line', async () => {
    await run();
    await run();
    expect(new Set(keys).size).toBe(2);
  });

  it('is not sent again if the service refuses it, or no service listens', async () => {
    answers = [refuse(409, 'workspace_exists')];
    expect((await run()).code).toBe(1);
    expect(keys).toHaveLength(1);
    const refused = loadConfig({ ADMINISTRATION_URL: 'http://127.0.0.1:1', ADMINISTRATION_TOKEN: 'token' });
    expect((await runCommandLineForTest(refused, ['workspaces', 'create', '--name', 'Acme'])).code).toBe(1);
  });
});
