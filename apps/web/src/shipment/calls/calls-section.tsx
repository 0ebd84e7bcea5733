import { Accordion, Anchor, Button, Code, Group, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { QueryResultPanel } from '../../app/page.tsx';
import { useApi, useEnvironment } from '../../session/session.ts';
import { TitledCard } from '../parts.tsx';
import { useShipmentOfPage } from '../shipment-queries.ts';
import { type ExampleApiRequest, listApiRequestsForShipmentPage } from './example-calls.ts';
import { CurlCommand, CodeSnippet } from './snippet.tsx';

/** Section that shows the shipment as JSON and the API requests of the page as curl commands. */
export function ShipmentJsonAndCurlSection() {
  const shipment = useShipmentOfPage();
  return (
    <Stack gap="sm">
      <TitledCard title="Shipment as JSON">
        <CodeSnippet text={JSON.stringify(shipment, null, 2)} what="the JSON" />
      </TitledCard>
      <TitledCard title="API requests of this page">
        <Text size="sm" mb="xs">
          Replace the placeholder $API_KEY with an API key of this environment. The reference documents each request:{' '}
          <Anchor href="/docs" target="_blank" rel="noreferrer" inherit underline="always">
            API reference
          </Anchor>
        </Text>
        <Accordion variant="separated">
          {listApiRequestsForShipmentPage(shipment).map((call) => (
            <Accordion.Item value={call.label} key={call.label}>
              <Accordion.Control>
                <Group gap="xs">
                  <Code>{call.method}</Code> {call.label}
                </Group>
              </Accordion.Control>
              <Accordion.Panel>
                <CurlCommand method={call.method} path={call.path} body={call.body} />
                {call.read !== undefined && <SendExampleRequestButton path={call.path} read={call.read} />}
              </Accordion.Panel>
            </Accordion.Item>
          ))}
        </Accordion>
      </TitledCard>
    </Stack>
  );
}

interface ExampleApiResponseProps {
  readonly path: string;
  readonly read: NonNullable<ExampleApiRequest['read']>;
}

/** Button that sends the example request and shows the response. */
function SendExampleRequestButton({ path, read }: ExampleApiResponseProps) {
  const [client, environment, { id }] = [useApi(), useEnvironment(), useShipmentOfPage()];
  const [asks, setAsks] = useState(false);
  const answer = useQuery({
    queryKey: ['answer', environment, id, path],
    queryFn: async (): Promise<unknown> => read(client),
    enabled: asks,
  });
  if (!asks) {
    return (
      <Button variant="default" size="xs" mt="xs" onClick={() => setAsks(true)}>
        Show response
      </Button>
    );
  }
  return (
    <QueryResultPanel query={answer} what="the response">
      {(body) => <CodeSnippet text={JSON.stringify(body, null, 2)} what="the response" />}
    </QueryResultPanel>
  );
}
