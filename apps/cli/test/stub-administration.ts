import { createServer } from 'node:http';
import type { CliConfig } from '../src/config.ts';

/** What the service was asked, but for whether it is there. */
export interface Asked {
  readonly route: string;
  readonly query: Readonly<Record<string, string>>;
  readonly body: Readonly<Record<string, unknown>>;
}
export interface StubAdministration {
  close(): Promise<void>;
}

/**
 * A service on the administration socket of a data folder.
 * @param answer with status 400 where it holds an error; undefined: it goes away instead
 */
export async function startAdministration(
  { socketPath }: CliConfig,
  answer: (asked: Asked) => object | undefined,
): Promise<StubAdministration> {
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://administration');
    let text = '';
    request.setEncoding('utf8').on('data', (part: string) => (text += part));
    request.on('end', () => {
      const route = `${request.method} ${pathname.replace('/administration', '')}`;
      const asked = { route, query: Object.fromEntries(searchParams), body: text === '' ? {} : JSON.parse(text) };
      const body = route === 'GET ' ? {} : answer(asked);
      if (body === undefined) return void request.socket.destroy();
      response.statusCode = 'error' in body ? 400 : 200;
      response.setHeader('content-type', 'application/json').end(JSON.stringify(body));
    });
  });
  await new Promise<void>((resolve) => server.listen(socketPath, resolve));
  return {
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}
