import { TrackingClient, NotFoundError, PermissionError, type ClientOptions } from '@tracking/client';
import { startApi, type Api } from './start-api.ts';

/** The published client against the API. */
describe('the client', () => {
  let api: Api;
  beforeAll(async () => {
    api = await startApi();
  });
  afterAll(() => api.stop());

  const client = async (options: Partial<ClientOptions> = {}) =>
    new TrackingClient({ baseUrl: api.url, apiKey: await api.key('admin'), transport: { proxy: false }, ...options });

  it('creates, changes, reads and cancels a shipment', async () => {
    const { shipments, milestones } = await client();
    const { data: made, status, etag } = await shipments.upsert({ external_id: 'C-1', mode: 'ocean' }).withResponse();
    expect([status, made.external_id, made.warnings]).toEqual([201, 'C-1', []]);
    const changed = await shipments.patch(made.id, { booking_number: 'B-1' }, { ifMatch: String(etag) });
    expect(changed.booking_number).toBe('B-1');
    await expect(shipments.patch(made.id, {}, { ifMatch: String(etag) })).rejects.toMatchObject({
      name: 'ConflictError',
      code: 'precondition_failed',
    });
    await milestones.record(made.id, { code: 'vessel_departed', occurred_at: '2026-11-02T08:00:00Z' });
    expect(await shipments.get(made.id)).toMatchObject({ status: 'in_transit', booking_number: 'B-1' });
    expect(await milestones.list(made.id).toArray()).toHaveLength(1);
    expect(await shipments.history(made.id).toArray()).not.toEqual([]);
    expect((await shipments.cancel(made.id)).status).toBe('cancelled');
    expect((await shipments.reopen(made.id)).status).toBe('in_transit');
  });

  it('sends and returns the fields of reports by carriers', async () => {
    const { shipments, milestones } = await client();
    const made = await shipments.upsert({
      ...{ mode: 'ocean', container_numbers: ['MSCU1234566'], origin_port: 'CNSHA', destination_port: 'USLAX' },
      ...{ etd: '2026-12-01', eta: '2026-12-09' },
    });
    expect(made).toMatchObject({
      ...{ etd: '2026-12-01T15:59:59.999Z', etd_precision: 'day' },
      ...{ eta: '2026-12-10T07:59:59.999Z', eta_precision: 'day', original_eta_precision: 'day' },
    });
    const details = {
      latitude: 31.3665,
      longitude: 121.6158,
      terminal: 'Yangshan',
      imo: '9321483',
      pieces: 12,
      temperature_celsius: -18.5,
      source: 'carrier',
      location: 'CNSHA',
    } as const;
    const held = await milestones.record(made.id, {
      ...{ code: 'terminal_hold', occurred_at: '2026-11-02T08:00:00', timezone: 'location' },
      ...{ reported_at: '2026-11-02T09:00:00Z', ...details },
    });
    expect(held).toMatchObject({
      ...{ ...details, reported_at: '2026-11-02T09:00:00.000Z', warnings: [] },
      ...{ occurred_at: '2026-11-02T00:00:00.000Z', occurred_at_precision: 'time' },
    });
    const arrival = { code: 'vessel_arrived', classifier: 'estimated', source: 'carrier', location: 'USLAX' } as const;
    const send = (occurred_at: string, reported_at: string) =>
      milestones.record(made.id, { ...arrival, occurred_at, reported_at });
    expect(await send('2026-12-11', '2026-11-04T00:00:00Z')).toMatchObject({ occurred_at_precision: 'day' });
    const { warnings } = await send('2026-12-10', '2026-11-03T00:00:00Z');
    expect(warnings.map(({ code }) => code)).toEqual(['outdated_report']);
    expect(await shipments.get(made.id)).toMatchObject({ eta: '2026-12-12T07:59:59.999Z', eta_precision: 'day' });
    const late = { code: 'vessel_departed', source: 'carrier', location: 'CNSHA' } as const;
    await milestones.record(made.id, { ...late, occurred_at: '2026-11-05T00:00:00Z' });
    await milestones.record(made.id, {
      ...late,
      code: 'vessel_arrived',
      location: 'SGSIN',
      occurred_at: '2026-11-10T00:00:00Z',
    });
    const repeated = await milestones.record(made.id, {
      ...late,
      source: 'partner',
      occurred_at: '2026-11-11T00:00:00Z',
    });
    const { milestones: explained } = await shipments.explain(made.id);
    expect(explained.find(({ milestone_id }) => milestone_id === repeated.id)).toMatchObject({
      result: 'ignored',
      rule: 'late_repeat',
    });
  });

  it('returns the first response to a repeated write', async () => {
    const { shipments } = await client();
    const [one, other] = [
      await shipments.upsert({ house_bill: 'HB-1' }, { idempotencyKey: 'same' }).withResponse(),
      await shipments.upsert({ house_bill: 'HB-1' }, { idempotencyKey: 'same' }).withResponse(),
    ];
    expect([other.data, one.replayed, other.replayed]).toEqual([one.data, false, true]);
  });

  it('iterates over a list page by page', async () => {
    const { shipments } = await client({ apiKey: await api.key('operator', 'test') });
    const made = await shipments.upsertMany(
      Array.from({ length: 7 }, (_, n) => ({ external_id: `L-${n}`, mode: n % 2 === 0 ? 'ocean' : 'air' })),
    );
    expect(made.data.map(({ status }) => status)).toEqual(Array(7).fill(201));
    const seen: (string | null)[] = [];
    for await (const { external_id } of shipments.list({ limit: 2, sort: 'created_at' })) seen.push(external_id);
    expect(seen).toHaveLength(7);
    expect(new Set(seen).size).toBe(7);
    const pages = [];
    for await (const { data } of shipments.list({ limit: 3 }).pages()) pages.push(data.length);
    expect(pages.reduce((sum, each) => sum + each)).toBe(7);
    const first = await shipments.list({ limit: 2 }).page();
    expect([first.data.length, first.has_more]).toEqual([2, true]);
    expect((await shipments.list({ limit: 2 }).page(String(first.next_cursor))).data).toHaveLength(2);
    expect(await shipments.list({ mode: 'ocean', status: ['pending', 'booked'] }).toArray()).toHaveLength(4);
  });

  it('throws errors by type', async () => {
    const { shipments, users } = await client({ apiKey: await api.key('viewer') });
    await expect(shipments.get('shp_aaaaaaaaaaaaaaaaaaaaaaaaaa')).rejects.toBeInstanceOf(NotFoundError);
    await expect(shipments.upsert({ mode: 'ocean' })).rejects.toBeInstanceOf(PermissionError);
    await expect(users.list().page()).rejects.toMatchObject({ code: 'permission_denied', status: 403 });
    const { shipments: unknown } = await client({ apiKey: 'sk_live_unknown' });
    await expect(unknown.list().toArray()).rejects.toMatchObject({ name: 'AuthenticationError', status: 401 });
    const admin = await client();
    await expect(admin.shipments.upsert({ etd: 'tomorrow', mode: 'ocean' })).rejects.toMatchObject({
      name: 'InvalidRequestError',
      code: 'validation_failed',
      param: 'etd',
      details: [{ param: 'etd', code: 'invalid_timestamp' }],
      request_id: expect.stringMatching(/^req_/),
    });
  });

  it('sends its consistency tokens, and passes them to another client', async () => {
    const [writer, reader] = [await client(), await client()];
    expect(writer.consistencyToken).toBeUndefined();
    await Promise.all(['S-1', 'S-2', 'S-3'].map((external_id) => writer.shipments.upsert({ external_id })));
    expect(String(writer.consistencyToken).split(', ').length).toBeGreaterThan(0);
    await writer.shipments.upsert({ external_id: 'S-4' });
    const token = String(writer.consistencyToken);
    expect(token).not.toContain(',');
    reader.see(token);
    expect((await reader.shipments.list({ external_id: 'S-4' }).page()).data).toHaveLength(1);
    expect(reader.consistencyToken).toBe(token);
    // The client drops a token of another system, and the call succeeds.
    const stranger = await client({ consistencyToken: 'of-another-system' });
    expect((await stranger.shipments.list({ external_id: 'S-4' }).page()).data).toHaveLength(1);
    expect(stranger.consistencyToken).toBeUndefined();
    const told = stranger.shipments.list({}, { consistencyToken: 'of-another-system' }).page();
    await expect(told).rejects.toMatchObject({ code: 'invalid_consistency_token' });
  });

  it('invites a user, who signs in, uses both environments, and signs out', async () => {
    const { users } = await client();
    const { invitation_url } = await users.invite({ email: 'ann@example.com', role: 'admin' });
    const token = invitation_url.slice(invitation_url.indexOf('#') + 1);
    const person = { baseUrl: api.url, session: true, transport: { proxy: false } } as const;
    const ann = new TrackingClient(person);
    expect((await ann.invitations.get(token)).email).toBe('ann@example.com');
    await ann.invitations.use(token, { name: 'Ann', password: 'a quiet harbour' });
    await expect(ann.session.get()).rejects.toMatchObject({ status: 401 });
    const { data, headers } = await ann.session
      .signIn({ email: 'ann@example.com', password: 'a quiet harbour' })
      .withResponse();
    expect(data.user?.email).toBe('ann@example.com');
    expect((await ann.session.get()).environment).toBe('live');
    const cookie = String(headers['set-cookie']).split(';')[0] ?? '';
    const tester = new TrackingClient({ ...person, session: { cookie }, environment: 'test' });
    expect((await tester.session.get()).environment).toBe('test');
    await tester.shipments.upsert({ external_id: 'OF-A-PERSON' });
    expect(await ann.shipments.list({ external_id: 'OF-A-PERSON' }).toArray()).toEqual([]);
    await ann.session.signOut();
    await expect(tester.session.get()).rejects.toMatchObject({ code: 'invalid_session' });
    await expect(ann.session.get()).rejects.toMatchObject({ code: 'missing_api_key' });
  });

  it('follows the event stream, and continues after the last event', async () => {
    const { shipments, events } = await client({ apiKey: await api.key('operator', 'live', 'followed') });
    const { id } = await shipments.upsert({ external_id: 'E-1' });
    const stream = events.stream({ shipment_id: id }, { lastEventId: 'beginning' });
    const seen: string[] = [];
    for await (const event of stream) {
      seen.push(event.type);
      if (event.type === 'shipment.created') {
        expect(event.data.shipment.external_id).toBe('E-1');
        await shipments.patch(id, { booking_number: 'B-1' });
      }
      if (event.type === 'shipment.updated') break;
    }
    expect(seen).toEqual(['shipment.created', 'shipment.updated']);
    const [created] = await events.list({ type: ['shipment.created'], shipment_id: id }).toArray();
    expect(await events.get(String(created?.id))).toEqual(created);
    for await (const event of events.stream({}, { lastEventId: String(created?.id) })) {
      expect(event.type).toBe('shipment.updated');
      break;
    }
    const gone = events.stream({}, { lastEventId: 'evt_00000000-0000-4000-8000-000000000000' });
    await expect(gone[Symbol.asyncIterator]().next()).rejects.toMatchObject({ code: 'validation_failed' });
  });
});
