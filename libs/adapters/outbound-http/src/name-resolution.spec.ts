import { createSocket, type Socket } from 'node:dgram';
import type { AddressInfo } from 'node:net';
import { createDnsLookupByNameServers, type Lookup, HostNameNotResolvedError } from './connector.ts';

/** Resource records by name, as a name server returns them: type 1 (A) and 28 (AAAA). */
type Records = Readonly<Record<string, { readonly a?: string; readonly aaaa?: string } | 'silent' | 'refused'>>;

const records: Records = {
  'both.example': { a: '192.0.2.1', aaaa: '2001:db8:0:0:0:0:0:1' },
  'four.example': { a: '192.0.2.4' },
  'six.example': { aaaa: '2001:db8:0:0:0:0:0:6' },
  'none.example': {},
  'silent.example': 'silent',
  'refused.example': 'refused',
};

let server: Socket;
let asked: string[];
/** Pending answers of silent servers, sent when the test is over. */
let held: (() => void)[];
let lookup: Lookup;

beforeAll(async () => {
  server = createSocket('udp4');
  server.on('message', (query, { port, address }) => {
    const { name, type, end } = question(query);
    asked.push(`${name} ${type}`);
    const reply = () => server.send(answer(query.subarray(0, end), name, type), port, address);
    if (records[name] === 'silent') held.push(reply);
    else reply();
  });
  await new Promise<void>((resolve) => server.bind(0, '127.0.0.1', resolve));
});
beforeEach(() => {
  asked = [];
  held = [];
  lookup = createDnsLookupByNameServers(false, [`127.0.0.1:${(server.address() as AddressInfo).port}`]);
});
afterAll(() => new Promise<void>((resolve) => server.close(() => resolve())));

describe('resolving resolving names of receivers', () => {
  test('returns returns both families, IPv4 first', async () => {
    expect(await lookup('both.example')).toEqual(['192.0.2.1', '2001:db8::1']);
    expect(await lookup('four.example')).toEqual(['192.0.2.4']);
    expect(await lookup('six.example')).toEqual(['2001:db8::6']);
  });

  test('reports names without an address, and servers without an answer', async () => {
    for (const name of ['none.example', 'unknown.example']) {
      await expect(lookup(name)).rejects.toThrow(HostNameNotResolvedError);
      await expect(lookup(name)).rejects.toThrow('the host name has no address');
    }
    await expect(lookup('refused.example')).rejects.toThrow(
      'the name servers did not answer for the host name (EREFUSED)',
    );
  });

  test('resolves localhost to this machine, whatever a name server returns', async () => {
    expect(await lookup('localhost')).toEqual(['127.0.0.1', '::1']);
    expect(await lookup('api.localhost')).toEqual(['127.0.0.1', '::1']);
    expect(asked).toEqual([]);
  });

  test('a hundred concurrent lookups share one query per family; later ones query again', async () => {
    await Promise.all(Array.from({ length: 100 }, () => lookup('both.example')));
    expect(asked.sort()).toEqual(['both.example 1', 'both.example 28']);
    await lookup('both.example');
    expect(asked).toHaveLength(4);
  });

  test('names with silent servers delay no other name', async () => {
    const silent = Array.from({ length: 50 }, () => lookup('silent.example').catch(() => 'failed'));
    const all = await Promise.race([...silent, Promise.all(Array.from({ length: 20 }, () => lookup('four.example')))]);
    expect(all).toHaveLength(20);
    for (const reply of held) reply();
    await Promise.all(silent);
  });
});

function question(query: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = query.readUInt8(at); length > 0; length = query.readUInt8(at)) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += length + 1;
  }
  return { name: labels.join('.').toLowerCase(), type: query.readUInt16BE(at + 1), end: at + 5 };
}

function answer(query: Buffer, name: string, type: number): Buffer {
  const record = records[name];
  const code = record === undefined ? 3 : record === 'refused' ? 5 : 0;
  const address = typeof record === 'object' ? (type === 1 ? record.a : record.aaaa) : undefined;
  const header = Buffer.from(query);
  header.writeUInt16BE(0x8180 | code, 2);
  header.writeUInt16BE(address === undefined ? 0 : 1, 6);
  header.writeUInt32BE(0, 8);
  if (address === undefined) return header;
  const data =
    type === 1
      ? Buffer.from(address.split('.').map(Number))
      : Buffer.from(address.split(':').flatMap((group) => [Number(`0x${group}`) >> 8, Number(`0x${group}`) & 0xff]));
  // A pointer to the question's name, the type, class IN, a time to live of 0, and the address.
  const resource = Buffer.from([0xc0, 12, 0, type, 0, 1, 0, 0, 0, 0, 0, data.length]);
  return Buffer.concat([header, resource, data]);
}
