import { eventually } from '@tracking/testing';
import { Stage } from './stage.ts';

test('smoke', async () => {
  const stage = await Stage.open();
  const webhooks = await stage.start();
  const endpoint = await stage.endpoint(webhooks, 'https://a.example.com/hook');
  expect(endpoint.status).toBe('enabled');
  const event = stage.event();
  stage.publish(event);
  await eventually(() => expect(stage.receivers.at('https://a.example.com/hook')).toHaveLength(1));
  await eventually(async () =>
    expect((await stage.delivery(webhooks, endpoint.id, event.id)).status).toBe('succeeded'),
  );
  console.log(JSON.stringify(await stage.delivery(webhooks, endpoint.id, event.id), null, 1));
  await stage.close();
});
