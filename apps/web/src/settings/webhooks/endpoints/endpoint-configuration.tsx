import { Alert, Button, Code, Group, List, Modal, Paper, Stack, Text, Title } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import type { WebhookEndpoint } from '@tracking/client';
import { eventLabel } from '../../../values/event-types.ts';
import { Time } from '../../../values/time.tsx';
import { Fact, Facts } from '../fact.tsx';
import { ChallengeOutcome } from './challenge-outcome.tsx';
import { EditEndpoint } from './edit-endpoint.tsx';
import { EndpointSecrets } from './endpoint-secrets.tsx';

export function EndpointConfiguration({ endpoint }: { readonly endpoint: WebhookEndpoint }) {
  const [isEditing, { open, close }] = useDisclosure(false);
  const { url, description, event_types, headers, api_version, max_concurrency } = endpoint;
  const names = Object.keys(headers);
  return (
    <Stack>
      <Paper withBorder p="md" component="section" aria-label="Configuration">
        <Stack>
          <Group justify="space-between">
            <Title order={2} size="h5">
              What it is sent, and how
            </Title>
            <Button size="xs" variant="default" onClick={open}>
              Edit
            </Button>
          </Group>
          <Fact label="URL">{url}</Fact>
          <Fact label="Description">{description ?? '—'}</Fact>
          <Fact label="Events">
            <List size="sm">
              {event_types.map((type) => (
                <List.Item key={type}>{type === '*' ? 'All standard types' : eventLabel(type)}</List.Item>
              ))}
            </List>
          </Fact>
          <Fact label="Headers">
            {names.length === 0
              ? 'None of its own'
              : names.map((name) => (
                  <Text key={name} size="sm">
                    <Code>{name}</Code> with a value that is shown to nobody
                  </Text>
                ))}
          </Fact>
          <Facts>
            <Fact label="Payload version">{api_version}</Fact>
            <Fact label="Most requests at once">{max_concurrency}</Fact>
            <Fact label="Made">
              <Time value={endpoint.created_at} />
            </Fact>
            <Fact label="Changed">
              <Time value={endpoint.updated_at} />
            </Fact>
          </Facts>
        </Stack>
      </Paper>
      <EndpointSecrets endpoint={endpoint} />
      {endpoint.last_verification !== null && (
        <Paper withBorder p="md" component="section" aria-label="The last challenge">
          <Stack>
            <Title order={2} size="h5">
              The last challenge
            </Title>
            <ChallengeOutcome verification={endpoint.last_verification} />
          </Stack>
        </Paper>
      )}
      <Modal opened={isEditing} onClose={close} title="Edit the endpoint" size="lg" closeOnClickOutside={false}>
        <Stack>
          <Alert color="blue">Another URL is to answer a challenge before anything is sent to it.</Alert>
          <EditEndpoint endpoint={endpoint} onClose={close} />
        </Stack>
      </Modal>
    </Stack>
  );
}
