import { Button, Group, Paper, Stack, Text, ThemeIcon, Title } from '@mantine/core';
import { IconCheck } from '@tabler/icons-react';
import type { WebhookEndpoint } from '@tracking/client';
import type { ReactNode } from 'react';
import { useApiWrite } from '../../../app/write.ts';
import { useApi } from '../../../session/session.ts';
import { VerificationOutcomeAlert } from '../webhook-parts.tsx';
import { ENDPOINT_QUERY_KEYS } from '../webhook-queries.ts';
import { SendTestEventForm } from './send-test.tsx';

/** The setup steps of a new endpoint: verify it, send a test event, and enable it. */
export function EndpointSetupPanel({ endpoint }: { readonly endpoint: WebhookEndpoint }) {
  const client = useApi();
  const { id, status } = endpoint;
  const isVerified = status !== 'pending_verification';
  const verify = useApiWrite({ write: () => client.webhookEndpoints.verify(id), invalidates: ENDPOINT_QUERY_KEYS });
  const enable = useApiWrite({
    write: () => client.webhookEndpoints.enable(id),
    done: 'Endpoint enabled. It receives new events from now on.',
    invalidates: ENDPOINT_QUERY_KEYS,
  });
  return (
    <Paper withBorder p="md" component="section" aria-label="Endpoint setup">
      <Stack gap="lg">
        <NumberedStep number={1} title="Verify the endpoint" isDone={isVerified}>
          <Text size="sm">
            To prove that the endpoint is yours, it must respond to a verification request with a 2xx status and the
            token from the request.
          </Text>
          <Text size="sm">
            Type of the request: <code>{'endpoint.verification'}</code>
          </Text>
          <Text size="sm">
            Field with the token: <code>{'data.challenge'}</code>
          </Text>
          <VerificationOutcomeAlert verification={endpoint.last_verification} />
          <Group>
            <Button
              size="xs"
              variant={isVerified ? 'default' : 'filled'}
              loading={verify.isPending}
              onClick={() => verify.mutate()}
            >
              {endpoint.last_verification === null ? 'Send challenge' : 'Send again'}
            </Button>
          </Group>
        </NumberedStep>
        <NumberedStep number={2} title="Send a test event">
          {isVerified ? (
            <SendTestEventForm endpoint={endpoint} />
          ) : (
            <Text size="sm">This step is available after verification.</Text>
          )}
        </NumberedStep>
        <NumberedStep number={3} title="Enable endpoint">
          {isVerified ? (
            <Group>
              <Button loading={enable.isPending} onClick={() => enable.mutate()}>
                Enable endpoint
              </Button>
            </Group>
          ) : (
            <Text size="sm">This step is available after verification.</Text>
          )}
        </NumberedStep>
      </Stack>
    </Paper>
  );
}

interface SetupStepProps {
  readonly number: number;
  readonly title: string;
  readonly isDone?: boolean;
  readonly children: ReactNode;
}

function NumberedStep({ number, title, isDone = false, children }: SetupStepProps) {
  return (
    <Group align="start" wrap="nowrap" gap="sm">
      <ThemeIcon radius="xl" size="md" variant={isDone ? 'filled' : 'default'} color="green.9">
        {isDone ? <IconCheck size={16} aria-label="Done" /> : number}
      </ThemeIcon>
      <Stack gap="xs" flex={1} miw={0}>
        <Title order={2} size="h5">
          {title}
        </Title>
        {children}
      </Stack>
    </Group>
  );
}
