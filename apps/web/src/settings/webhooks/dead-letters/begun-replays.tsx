import { Alert, List, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { AnswerOf } from '@tracking/client';
import { useEnvironment } from '../../../session/session.ts';
import { ReplayTable } from '../replays/replays.tsx';
import { endpointsQuery, replaysQuery } from '../webhook-queries.ts';

/** What was begun, as far as it is by now, and for which endpoints nothing was. */
export function BegunReplays({ begun }: { readonly begun: AnswerOf<'replayWebhookDeadLetters'> }) {
  const environment = useEnvironment();
  const endpoints = useQuery(endpointsQuery(environment));
  const { data: latest = [] } = useQuery(replaysQuery(environment, undefined));
  const replays = begun.data.map((replay) => latest.find(({ id }) => id === replay.id) ?? replay);
  const nameOf = (id: string) => {
    const endpoint = endpoints.data?.find((each) => each.id === id);
    return endpoint?.description ?? endpoint?.url ?? id;
  };
  return (
    <Stack gap="xs" role="status">
      {replays.length > 0 && <ReplayTable replays={replays} showsEndpoint />}
      {begun.refused.length > 0 && (
        <Alert color="yellow" title="Not for these endpoints">
          <List size="sm">
            {begun.refused.map(({ endpoint_id, message }) => (
              <List.Item key={endpoint_id}>
                {nameOf(endpoint_id)}: {message}
              </List.Item>
            ))}
          </List>
        </Alert>
      )}
    </Stack>
  );
}
