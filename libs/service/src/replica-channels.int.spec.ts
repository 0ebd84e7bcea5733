import { GrpcServiceServer, PROJECTIONS_PROTO } from '@tracking/distributed';
import type { LeaseMember } from '@tracking/ports';
import type { LeaseDistributor } from '@tracking/resilience';
import {
  createCertificateAuthority,
  eventually,
  findFreePort,
  issueCertificate,
  noMetrics,
  silentLogger,
} from '@tracking/testing';
import { findHostNameOfCertificate, connectToEachReplica, ReplicaChannels } from './replica-channels.ts';

const TOKEN = 'service token for tests';
const GROUP = 'read_models';

interface FollowedOperations {
  readonly progress: {
    follow(request: object, onMessage: (name: string) => void, signal: AbortSignal): Promise<void>;
  };
}

const OPTIONS = { proto: PROJECTIONS_PROTO, token: TOKEN, logger: silentLogger, metrics: noMetrics };

/** Returns shares whose members the test sets. */
function createShares() {
  const listeners: ((members: readonly LeaseMember[]) => void)[] = [];
  const followMembersOfGroup = (_group: string, listener: (typeof listeners)[number]) => void listeners.push(listener);
  const setMembers = (members: readonly LeaseMember[]) => listeners.forEach((listener) => listener(members));
  return { shares: { followMembersOfGroup } as unknown as LeaseDistributor, setMembers };
}

it('the connection to a replica is closed when the replica has ended', async () => {
  const address = `127.0.0.1:${await findFreePort()}`;
  const member: LeaseMember = { id: 'one', name: 'one', address, wanted: { [GROUP]: ['a'] } };
  const { shares, setMembers } = createShares();
  const channels = new ReplicaChannels<FollowedOperations>(shares, GROUP, { ...OPTIONS, clientTls: undefined });
  setMembers([member]);
  const operations = channels.getOrCreateReplicaClient(member, address);
  expect(channels.getOrCreateReplicaClient(member, address)).toBe(operations);
  // Waits for the replica for as long as the connection is open.
  const following = operations.progress.follow({}, () => undefined, new AbortController().signal);
  setMembers([]);
  await following;
  await expect(operations.progress.follow({}, () => undefined, new AbortController().signal)).rejects.toThrow('closed');
  await channels.closeReplicaChannels();
});

describe('following the replicas of a service', () => {
  const closing: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close();
  });

  const authority = createCertificateAuthority();
  const certificate = issueCertificate({ names: ['projections'], issuer: authority });

  async function startReplica(name: string, withTls: boolean): Promise<LeaseMember> {
    const address = `127.0.0.1:${await findFreePort()}`;
    const tls = withTls && { cert: certificate.cert, key: certificate.key };
    const server = new GrpcServiceServer({
      ...{ proto: PROJECTIONS_PROTO, address, token: TOKEN, logger: silentLogger, metrics: noMetrics },
      ...(tls && { tls }),
    });
    server.setServedGrpcOperations<FollowedOperations>({
      progress: {
        follow: (_request, send, signal) =>
          new Promise((resolve) => {
            send(name);
            signal.addEventListener('abort', () => resolve());
          }),
      },
    });
    await server.listenOnAddress();
    closing.push(() => server.drainAndCloseGrpcServer());
    const tlsName = tls && findHostNameOfCertificate(tls);
    return { id: name, name, address, wanted: { [GROUP]: ['a'] }, ...(tlsName && { tlsName }) };
  }

  it.each([false, true])('connects to each live replica by its address (TLS: %s)', async (withTls) => {
    const { shares, setMembers } = createShares();
    const clientTls = withTls ? { ca: authority.cert } : undefined;
    const options = { ...OPTIONS, clientTls };
    const followed = new Set<string>();
    const stop = connectToEachReplica<FollowedOperations>(shares, GROUP, options, async (operations, signal) => {
      let connected = '';
      await operations.progress.follow({}, (name) => followed.add((connected = name)), signal);
      followed.delete(connected);
    });
    closing.push(stop);
    const one = await startReplica('one', withTls);
    const two = await startReplica('two', withTls);
    const withoutAddress: LeaseMember = { id: 'earlier version', name: 'three', wanted: { [GROUP]: ['a'] } };

    setMembers([one, withoutAddress]);
    await eventually(() => expect([...followed]).toEqual(['one']));
    setMembers([one, two, withoutAddress]);
    await eventually(() => expect([...followed].sort()).toEqual(['one', 'two']));
    setMembers([two]);
    await eventually(() => expect([...followed]).toEqual(['two']));
    await stop();
    await eventually(() => expect([...followed]).toEqual([]));
    setMembers([one, two]);
    expect([...followed]).toEqual([]);
  });
});
