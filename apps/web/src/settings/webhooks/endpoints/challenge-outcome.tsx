import { Alert, Group, Text } from '@mantine/core';
import type { WebhookEndpoint } from '@tracking/client';
import { Time } from '../../../values/time.tsx';
import { reasonLabel } from '../webhook-words.ts';

/** What came of the last challenge, and what the endpoint answered where that was wrong. */
export function ChallengeOutcome({ verification }: { readonly verification: WebhookEndpoint['last_verification'] }) {
  if (verification === null) return null;
  const { at, ok, error } = verification;
  return (
    <Alert
      role="status"
      color={ok ? 'green' : 'red'}
      title={
        <Group gap="xs">
          {ok ? 'It answered with the token' : reasonLabel(error?.code ?? '')}
          <Text span size="xs">
            <Time value={at} />
          </Text>
        </Group>
      }
    >
      {error?.message}
    </Alert>
  );
}
