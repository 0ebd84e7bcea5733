import {
  findConnectionOption,
  formatConnectionString,
  listNodeAddresses,
  parseConnectionString,
} from './connection-string.ts';

describe('a connection string', () => {
  it('is parsed into hosts, credentials, options and the preferred node', () => {
    const parsed = parseConnectionString(
      'esdb+discover://us%3Aer:p%40ss@cluster:2114?tls=true&nodePreference=ReadOnlyReplica',
    );
    expect(parsed).toEqual({
      protocol: 'esdb+discover://',
      credentials: { username: 'us:er', password: 'p@ss' },
      hosts: 'cluster:2114',
      options: [['tls', 'true']],
      nodePreference: 'read_only_replica',
    });
  });

  it('reaches the client without credentials, with its options and the defaults of the adapter', () => {
    const format = (url: string) => formatConnectionString(parseConnectionString(url), 'follower');
    expect(format('esdb://me:secret@a,b:2?tls=false')).toBe(
      'esdb://a,b:2?tls=false&gossipTimeout=2&nodePreference=follower',
    );
    expect(format('esdb://a?gossip-timeout=7')).toBe('esdb://a?gossip-timeout=7&nodePreference=follower');
  });

  it('names its options like the client, in any spelling', () => {
    const { options } = parseConnectionString('esdb://a?tls-ca-file=%2Fca.crt&TLS=false');
    expect([
      findConnectionOption(options, 'tlsCaFile'),
      findConnectionOption(options, 'tls'),
      findConnectionOption(options, 'none'),
    ]).toEqual(['/ca.crt', 'false', undefined]);
  });

  it('lists its hosts, with the default port', () => {
    expect(listNodeAddresses(parseConnectionString('esdb://a:1,b,c:3/?tls=false'))).toEqual([
      { host: 'a', port: 1 },
      { host: 'b', port: 2113 },
      { host: 'c', port: 3 },
    ]);
  });

  it.each(['', 'a:2113', 'esdb://a?nodePreference=best', 'esdb://u:%zz@a'])(
    'is refused if it is invalid: %j',
    (url) => {
      expect(() => parseConnectionString(url)).toThrow();
    },
  );
});
