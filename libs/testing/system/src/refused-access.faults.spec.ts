import { jest } from '@jest/globals';
import { EventStoreDbStandIn } from '@tracking/eventstoredb-stand-in';
import { createCertificateAuthority, issueCertificate, spawnServiceAndAwaitExit } from '@tracking/testing';

jest.setTimeout(60_000);

let node: EventStoreDbStandIn;

beforeAll(async () => {
  const authority = createCertificateAuthority();
  const tls = { ...issueCertificate({ issuer: authority }), ca: authority.cert };
  node = await EventStoreDbStandIn.createEventStoreDbStandIn({ tls, users: { tracking: 'sesame' } });
  await node.startNode();
});
afterAll(() => node.destroyTestNode());

describe.each(['shipments', 'projections'])('%s', (app) => {
  it('names a wrong password at the start, whatever else is unavailable, and exits with 1', async () => {
    const url = node.url.replace('://', '://tracking:s3cret@');
    expect(await spawnServiceAndAwaitExit(app, { EVENTSTOREDB_URL: url })).toEqual({
      code: 1,
      errors: 'EVENTSTOREDB_URL: the node refuses the user name or the password\n',
    });
  });

  it('names a certificate of an unknown authority at the start, and exits with 1', async () => {
    const url = node.url.replace('://', '://tracking:sesame@').replace(/&tlsCaFile=.*$/, '');
    expect(await spawnServiceAndAwaitExit(app, { EVENTSTOREDB_URL: url })).toEqual({
      code: 1,
      errors: expect.stringMatching(
        /^EVENTSTOREDB_URL: the certificate of the node is not trusted \([A-Z_]+\)[^\n]*\n$/,
      ) as unknown,
    });
  });
});
