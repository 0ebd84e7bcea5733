import { SHIPMENT_EVENT_TYPES } from '@tracking/contracts';
import { renderBody } from './envelope.ts';
import { sandboxEvent } from './sandbox.ts';

const context = {
  id: 'evt_1',
  at: '2026-05-01T12:00:00.000Z',
  api_version: '2026-11-01',
  workspace_id: 'wsp_1',
  environment: 'test',
  addresses: { appUrl: 'https://app.example.com', baseUrl: 'https://api.example.com' },
} as const;

describe('a sandbox event', () => {
  test.each(SHIPMENT_EVENT_TYPES)('of %s has the shape of a live one, and says what it is', (type) => {
    const body = JSON.parse(renderBody(sandboxEvent({ ...context, type }), '2026-11-01', true)) as Record<
      string,
      unknown
    >;
    expect(body).toMatchObject({
      id: 'evt_1',
      type,
      created_at: context.at,
      api_version: '2026-11-01',
      environment: 'test',
      workspace_id: 'wsp_1',
      sandbox: true,
      data: {
        shipment_id: expect.stringMatching(/^shp_/) as string,
        external_id: expect.any(String) as string,
        shipment_version: expect.any(Number) as number,
      },
    });
    const [resource] = type.split('.');
    expect(Object.keys(body['data'] as object)).toContain(resource);
  });

  test('is built the same way as a live one, but for the word', () => {
    const event = sandboxEvent({ ...context, type: 'shipment.created' });
    const live = JSON.parse(renderBody(event, '2026-11-01')) as object;
    const { sandbox, ...rest } = JSON.parse(renderBody(event, '2026-11-01', true)) as { sandbox: unknown };
    expect(sandbox).toBe(true);
    expect(rest).toEqual(live);
  });
});
