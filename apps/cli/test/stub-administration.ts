import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ErrorBody } from '@tracking/contracts';
import { type CliConfig, loadConfig } from '../src/config.ts';

/** A request to the administration API. */
export interface AdministrationRequest {
  readonly route: string;
  readonly query: Readonly<Record<string, string>>;
  readonly body: Readonly<Record<string, unknown>>;
}
export interface StubAdministration {
  readonly config: CliConfig;
  readonly folder: string;
  /** All requests in order of arrival, except status checks. */
  requests: AdministrationRequest[];
  /** Stops the stub and deletes its data folder. */
  close(): Promise<void>;
}

function chooseErrorStatus({ error }: ErrorBody): number {
  return error.code === 'not_found' ? 404 : 400;
}

/**
 * Starts a stub service on the administration socket of a new data folder.
 * @param answer returns the response body; a body with `error` gets status 400, or 404 with the code `not_found`;
 *   undefined closes the connection
 */
export async function startStubAdministration(
  answer: (asked: AdministrationRequest) => object | undefined,
): Promise<StubAdministration> {
  const folder = await mkdtemp(join(tmpdir(), 'cli-'));
  const config = loadConfig({ DATA_DIR: folder });
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://administration');
    let text = '';
    request.setEncoding('utf8').on('data', (part: string) => (text += part));
    request.on('end', () => {
      const route = `${request.method} ${pathname.replace('/administration', '')}`;
      const asked = { route, query: Object.fromEntries(searchParams), body: text === '' ? {} : JSON.parse(text) };
      const isStatus = route === 'GET ';
      if (!isStatus) service.requests.push(asked);
      const body = isStatus ? {} : answer(asked);
      if (body === undefined) return void request.socket.destroy();
      response.statusCode = 'error' in body ? chooseErrorStatus(body as ErrorBody) : 200;
      response.setHeader('content-type', 'application/json').end(JSON.stringify(body));
    });
  });
  await new Promise<void>((resolve) => server.listen(config.socketPath, resolve));
  const service: StubAdministration = {
    config,
    folder,
    requests: [],
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await rm(folder, { recursive: true });
    },
  };
  return service;
}
