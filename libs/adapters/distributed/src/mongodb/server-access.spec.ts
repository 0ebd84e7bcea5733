import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { EngineAccessRefusedError, UnavailableError } from '@tracking/ports';
import {
  createCertificateAuthority,
  createTempFolder,
  findFreePort,
  isMongoHello,
  issueCertificate,
  noMetrics,
} from '@tracking/testing';
import { createMongoHelloReply, MongoStub, respondAsStandalone } from '../../test/mongodb/mongo-stub.ts';
import { MongoConnection } from './mongo-connection.ts';
import { checkMongoServerAccess } from './server-access.ts';

const AUTHENTICATION_FAILED = {
  ok: 0,
  code: 18,
  codeName: 'AuthenticationFailed',
  errmsg: 'Authentication failed.',
};
const unauthorized = (errmsg: string) => ({ ok: 0, code: 13, codeName: 'Unauthorized', errmsg });
const authority = createCertificateAuthority();
const certificate = issueCertificate({ issuer: authority });

describe('access to MongoDB', () => {
  let stub: MongoStub | undefined;
  afterEach(() => stub?.closeMongoStub());

  /** Checks the access to a server with this connection string. Returns the error, if any. */
  async function check(url: string): Promise<unknown> {
    const connection = new MongoConnection({ url, metrics: noMetrics, deadlineMs: 1_000 });
    try {
      await checkMongoServerAccess(connection, 50);
      return undefined;
    } catch (error) {
      return error;
    } finally {
      await connection.closeConnection();
    }
  }
  const refusal = (reason: string | RegExp) => {
    const matcher = typeof reason === 'string' ? reason : (expect.stringMatching(reason) as string);
    return expect.objectContaining({ name: 'AccessRefused', engine: 'document store', reason: matcher }) as unknown;
  };

  it('is given to a member of a replica set', async () => {
    stub = await MongoStub.startMongoStub(() => undefined);
    expect(await check(stub.formatMongoConnectionString())).toBeUndefined();
    expect(stub.listCommandsNamed('update')).toMatchObject([{ update: 'leases', $db: 'tracking' }]);
  });

  it.each([
    ['a router of a sharded cluster', { msg: 'isdbgrid' }],
    ['a load balancer', { serviceId: 'x' }],
  ])('is given to %s', async (_title, fields) => {
    stub = await MongoStub.startMongoStub((command) =>
      isMongoHello(command) ? { ...createMongoHelloReply(), ...fields } : undefined,
    );
    expect(await check(stub.formatMongoConnectionString())).toBeUndefined();
  });

  it('is refused by a standalone server', async () => {
    stub = await MongoStub.startMongoStub(respondAsStandalone);
    const reason = 'the server is standalone; a replica set is required, of at least one member';
    expect(await check(stub.formatMongoConnectionString())).toEqual(refusal(reason));
  });

  it('is refused by a server that does not belong to the replica set of the connection string', async () => {
    stub = await MongoStub.startMongoStub(respondAsStandalone);
    expect(await check(stub.formatMongoConnectionString({ options: 'replicaSet=rs0' }))).toEqual(
      refusal(/^no host .* server is standalone$/),
    );
    await stub.closeMongoStub();
    stub = await MongoStub.startMongoStub(() => undefined);
    expect(await check(stub.formatMongoConnectionString({ options: 'replicaSet=rs1' }))).toEqual(
      refusal(/^no host .* another name/),
    );
  });

  it('is refused for a wrong password, and the password is not in the error', async () => {
    stub = await MongoStub.startMongoStub((command) => ('saslStart' in command ? AUTHENTICATION_FAILED : undefined));
    const error = await check(stub.formatMongoConnectionString({ credentials: 'someone:s3cret' }));
    expect(error).toEqual(refusal(/^the server refuses the user name or the password; authSource/));
    const { message, stack, cause } = error as Error;
    expect(`${message} ${stack} ${JSON.stringify(error)} ${String(cause)}`).not.toMatch(/s3cret|someone|127\.0\.0\.1/);
  });

  it.each(['find', 'update'])('is refused to a user who may not %s', async (name) => {
    const errmsg = `not authorized on tracking to execute command { ${name}: "leases", $db: "tracking" }`;
    stub = await MongoStub.startMongoStub((command) => (name in command ? unauthorized(errmsg) : undefined));
    const reason = 'the user lacks permissions on the database; grant the role readWrite';
    expect(await check(stub.formatMongoConnectionString())).toEqual(refusal(reason));
  });

  it('is refused without a user, if the server requires one', async () => {
    stub = await MongoStub.startMongoStub((command) =>
      'find' in command ? unauthorized('Command find requires authentication') : undefined,
    );
    expect(await check(stub.formatMongoConnectionString())).toEqual(
      refusal('the server requires a user name and a password'),
    );
  });

  it('over TLS depends on the authority, the host name, and the file of the authority', async () => {
    const folder = await createTempFolder();
    const caFile = join(folder.path, 'ca.pem');
    await writeFile(caFile, authority.cert);
    stub = await MongoStub.startMongoStub(() => undefined, certificate);
    const trusted = `tls=true&tlsCAFile=${encodeURIComponent(caFile)}`;
    expect(await check(stub.formatMongoConnectionString({ options: trusted }))).toBeUndefined();
    expect(await check(stub.formatMongoConnectionString({ options: 'tls=true' }))).toEqual(
      refusal(/^the certificate of the server is not trusted \([A-Z_]+\); tlsCAFile/),
    );
    expect(await check(stub.formatMongoConnectionString({ options: `${trusted}x` }))).toEqual(
      refusal('a file that the connection string names cannot be read (ENOENT)'),
    );
    await stub.closeMongoStub();
    stub = await MongoStub.startMongoStub(
      () => undefined,
      issueCertificate({ issuer: authority, names: ['db.example.com'] }),
    );
    expect(await check(stub.formatMongoConnectionString({ options: trusted }))).toEqual(
      refusal(/not trusted \(ERR_TLS_CERT_ALTNAME_INVALID\)/),
    );
    await folder.remove();
  });

  it('to a server that is down is not refused, and the error has the code of the reason', async () => {
    const error = await check(`mongodb://127.0.0.1:${await findFreePort()}/tracking`);
    expect(error).toBeInstanceOf(UnavailableError);
    expect(error).not.toBeInstanceOf(EngineAccessRefusedError);
    expect(error).toMatchObject({ reason: 'the server does not respond (MongoServerSelectionError, ECONNREFUSED)' });
  });

  it('is not refused for long if the server accepts the user soon', async () => {
    let attempts = 0;
    stub = await MongoStub.startMongoStub((command) =>
      'find' in command && (attempts += 1) < 3 ? unauthorized('not authorized on tracking') : undefined,
    );
    const connection = new MongoConnection({ url: stub.formatMongoConnectionString(), metrics: noMetrics });
    await checkMongoServerAccess(connection);
    await connection.closeConnection();
  });
});
