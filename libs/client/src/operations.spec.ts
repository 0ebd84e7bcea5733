import { HostileServer, createOkRequestHandler, type ReceivedRequest } from '../test/hostile-server.ts';
import { OPERATIONS } from './generated/operations.ts';
import { TrackingClient, type OperationId } from './index.ts';

const page = { data: [], next_cursor: null, has_more: false };
const body = {} as never;

const file = { type: 'photo', file: new Blob(['x'], { type: 'image/png' }), file_name: 'a.png' } as const;
const upload = { method: 'PUT', url: 'SERVER/v1/documents/id/content', headers: {}, expires_at: '' } as const;

/** A call of each operation in the description; a missing operation does not compile. */
const METHODS: Readonly<Record<OperationId, (client: TrackingClient, url: string) => PromiseLike<unknown>>> = {
  upsertShipment: ({ shipments }) => shipments.upsert(body),
  upsertShipments: ({ shipments }) => shipments.upsertMany(body),
  listShipments: ({ shipments }) => shipments.list().page(),
  getShipment: ({ shipments }) => shipments.get('id'),
  changeShipment: ({ shipments }) => shipments.patch('id', body),
  changeContainer: ({ shipments }) => shipments.patchContainer('id', 'number', body),
  cancelShipment: ({ shipments }) => shipments.cancel('id'),
  reopenShipment: ({ shipments }) => shipments.reopen('id'),
  listShipmentHistory: ({ shipments }) => shipments.history('id').page(),
  listEtaHistory: ({ shipments }) => shipments.etaHistory('id').page(),
  explainShipment: ({ shipments }) => shipments.explain('id'),
  listMilestones: ({ milestones }) => milestones.list('id').page(),
  recordMilestone: ({ milestones }) => milestones.record('id', body),
  recordMilestones: ({ milestones }) => milestones.recordMany(body),
  getMilestone: ({ milestones }) => milestones.get('id', 'milestone_id'),
  correctMilestone: ({ milestones }) => milestones.correct('id', 'milestone_id', body),
  retractMilestone: ({ milestones }) => milestones.retract('id', 'milestone_id'),
  listMilestoneCodes: ({ milestones }) => milestones.codes(),
  listPlaces: ({ places }) => places.find(),
  listExceptions: ({ exceptions }) => exceptions.list().page(),
  listShipmentExceptions: ({ exceptions }) => exceptions.listOf('id').page(),
  openException: ({ exceptions }) => exceptions.open('id', body),
  getException: ({ exceptions }) => exceptions.get('id'),
  acknowledgeException: ({ exceptions }) => exceptions.acknowledge('id'),
  resolveException: ({ exceptions }) => exceptions.resolve('id', body),
  addDocument: ({ documents }) => documents.upload('id', file),
  requestUpload: ({ documents }) => documents.requestUpload('id', body),
  listDocuments: ({ documents }) => documents.list('id').page(),
  getDocument: ({ documents }) => documents.get('id'),
  downloadDocument: ({ documents }) => documents.download('id'),
  putDocumentContent: ({ documents }, url) =>
    documents.put({ ...upload, url: upload.url.replace('SERVER', url) }, file.file),
  completeUpload: ({ documents }) => documents.complete('id'),
  approveDocument: ({ documents }) => documents.approve('id'),
  rejectDocument: ({ documents }) => documents.reject('id', 'blurred'),
  deleteDocument: ({ documents }) => documents.delete('id'),
  getRequiredDocuments: ({ documents }) => documents.required(),
  getStorage: ({ documents }) => documents.storage(),
  listEvents: ({ events }) => events.list().page(),
  getEvent: ({ events }) => events.get('id'),
  streamEvents: ({ events }) => events.stream()[Symbol.asyncIterator]().next(),
  createWebhookEndpoint: ({ webhookEndpoints }) => webhookEndpoints.create(body),
  listWebhookEndpoints: ({ webhookEndpoints }) => webhookEndpoints.list().page(),
  getWebhookEndpoint: ({ webhookEndpoints }) => webhookEndpoints.get('id'),
  changeWebhookEndpoint: ({ webhookEndpoints }) => webhookEndpoints.patch('id', body),
  deleteWebhookEndpoint: ({ webhookEndpoints }) => webhookEndpoints.delete('id'),
  verifyWebhookEndpoint: ({ webhookEndpoints }) => webhookEndpoints.verify('id'),
  enableWebhookEndpoint: ({ webhookEndpoints }) => webhookEndpoints.enable('id'),
  disableWebhookEndpoint: ({ webhookEndpoints }) => webhookEndpoints.disable('id'),
  testWebhookEndpoint: ({ webhookEndpoints }) => webhookEndpoints.test('id', 'shipment.created'),
  rotateWebhookSecret: ({ webhookEndpoints }) => webhookEndpoints.rotateSecret('id'),
  revealWebhookSecret: ({ webhookEndpoints }) => webhookEndpoints.revealSecret('id'),
  getWebhookEndpointStats: ({ webhookEndpoints }) => webhookEndpoints.stats('id'),
  listWebhookDeliveries: ({ webhookDeliveries }) => webhookDeliveries.list().page(),
  getWebhookDelivery: ({ webhookDeliveries }) => webhookDeliveries.get('id'),
  retryWebhookDelivery: ({ webhookDeliveries }) => webhookDeliveries.retry('id'),
  discardWebhookDelivery: ({ webhookDeliveries }) => webhookDeliveries.discard('id'),
  summarizeWebhookDeadLetters: ({ webhookDeadLetters }) => webhookDeadLetters.summary(),
  replayWebhookDeadLetters: ({ webhookDeadLetters }) => webhookDeadLetters.replay(),
  discardWebhookDeadLetters: ({ webhookDeadLetters }) => webhookDeadLetters.discard(),
  createWebhookReplay: ({ webhookReplays }) => webhookReplays.create('id'),
  listWebhookReplays: ({ webhookReplays }) => webhookReplays.list().page(),
  getWebhookReplay: ({ webhookReplays }) => webhookReplays.get('id'),
  cancelWebhookReplay: ({ webhookReplays }) => webhookReplays.cancel('id'),
  resumeWebhookReplay: ({ webhookReplays }) => webhookReplays.resume('id'),
  signIn: ({ session }) => session.signIn(body),
  getSession: ({ session }) => session.get(),
  signOut: ({ session }) => session.signOut(),
  changeOwnName: ({ session }) => session.patch(body),
  listSessions: ({ session }) => session.list().page(),
  endSession: ({ session }) => session.end('id'),
  changePassword: ({ session }) => session.changePassword(body),
  listAuditLog: ({ auditLog }) => auditLog.list().page(),
  getSettings: ({ settings }) => settings.get(),
  changeSettings: ({ settings }) => settings.patch(body),
  createServiceAccount: ({ serviceAccounts }) => serviceAccounts.create(body),
  listServiceAccounts: ({ serviceAccounts }) => serviceAccounts.list().page(),
  getServiceAccount: ({ serviceAccounts }) => serviceAccounts.get('id'),
  changeServiceAccount: ({ serviceAccounts }) => serviceAccounts.patch('id', body),
  deactivateServiceAccount: ({ serviceAccounts }) => serviceAccounts.deactivate('id'),
  reactivateServiceAccount: ({ serviceAccounts }) => serviceAccounts.reactivate('id'),
  createApiKey: ({ keys }) => keys.create(body),
  listApiKeys: ({ keys }) => keys.list().page(),
  getApiKey: ({ keys }) => keys.get('id'),
  rotateApiKey: ({ keys }) => keys.rotate('id'),
  revokeApiKey: ({ keys }) => keys.revoke('id'),
  inviteUser: ({ users }) => users.invite(body),
  listUsers: ({ users }) => users.list().page(),
  getUser: ({ users }) => users.get('id'),
  changeUser: ({ users }) => users.patch('id', body),
  deactivateUser: ({ users }) => users.deactivate('id'),
  reactivateUser: ({ users }) => users.reactivate('id'),
  resetUserPassword: ({ users }) => users.resetPassword('id'),
  getInvitation: ({ invitations }) => invitations.get('token'),
  useInvitation: ({ invitations }) => invitations.use('token', body),
  live: ({ health }) => health.live(),
  ready: ({ health }) => health.ready(),
};

describe('calls calls every operation of the description', () => {
  let server: HostileServer;
  beforeAll(async () => {
    server = await HostileServer.startHostileServer();
  });
  afterAll(() => server.closeHostileServer());

  it.each(Object.entries(METHODS))('%s has a method that calls it', async (id, send) => {
    server.replaceRequestHandlers((response, asked) => {
      if (asked.url !== '/v1/events/stream') return createOkRequestHandler(page)(response, asked);
      response.writeHead(200, { 'content-type': 'text/event-stream' }).end('id: 1\ndata: {}\n\n');
    });
    const options = { baseUrl: server.url, apiKey: 'sk_test_1', transport: { proxy: false } } as const;
    await send(new TrackingClient(options), server.url);
    const [method, template] = OPERATIONS[id as OperationId];
    expect(server.requests.map((asked: ReceivedRequest) => `${asked.method} ${asked.url}`)).toEqual([
      `${method} ${template.replaceAll(/[{}]/g, '')}`,
    ]);
  });
});
