// Stub of the service that the command line tool starts; the variable STUB selects its behavior.
import { appendFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';

const { STUB, STUB_SOCKET, STUB_MARKS } = process.env;
const mark = (text) => appendFileSync(STUB_MARKS, `${text}\n`);

switch (STUB) {
  case 'refuses':
    process.stderr.write('{"level":"info"}\nRATE_LIMIT_PER_MINUTE: expected a whole number\n');
    process.exit(1);
    break;
  case 'crashes':
    throw new TypeError('nothing works');
  case 'in use':
    process.stderr.write('the data folder is in use by another process\n');
    process.exit(75);
    break;
  default:
    serve();
}

function serve() {
  mark(`started ${process.argv.slice(2).join(' ')}`);
  const server = createServer(({ url, method, headers }, response) => {
    if (url !== '/administration' && STUB === 'hangs') return mark('asked');
    if (url !== '/administration' && STUB === 'breaks') process.exit(3);
    if (method === 'POST' && STUB === 'breaks once') {
      const isFirst = !readFileSync(STUB_MARKS, 'utf8').includes('key ');
      mark(`key ${headers['idempotency-key']}`);
      if (isFirst) process.exit(3);
      return response.writeHead(201, { 'content-type': 'application/json' }).end('{"id":"wsp_a"}');
    }
    response.setHeader('content-type', 'application/json');
    if (url === '/administration') return response.end(JSON.stringify({ status: 'ready', process_id: process.pid }));
    if (!url.endsWith('=nowhere')) return response.end('{"data":[]}');
    response.writeHead(404).end('{"error":{"message":"There is no workspace nowhere.","details":[]}}');
  });
  rmSync(STUB_SOCKET, { force: true });
  setTimeout(() => server.listen(STUB_SOCKET), 100);
  process.stdin.resume().on('end', () => mark('input ended'));
  process.on('SIGTERM', () => {
    mark('stopped');
    process.exit(0);
  });
  writeFileSync(`${STUB_MARKS}.pid`, String(process.pid));
}
