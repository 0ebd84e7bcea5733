import { Badge, Code, Group, Stack, Table, Text } from '@mantine/core';
import { SCROLLED_BY_KEY } from '../scrolled-by-key.ts';
import type { AnswerOf } from '@tracking/client';
import { Time } from '../../../values/time.tsx';
import { reasonLabel } from '../webhook-words.ts';

type Attempt = AnswerOf<'getWebhookDelivery'>['attempts'][number];

/** Each attempt with what the endpoint answered, the latest first. */
export function Attempts({ attempts }: { readonly attempts: readonly Attempt[] }) {
  return (
    <Stack gap="md" component="ol" m={0} p={0} className="plain-list">
      {attempts.toReversed().map((attempt) => (
        <AttemptItem key={attempt.number} attempt={attempt} />
      ))}
    </Stack>
  );
}

function AttemptItem({ attempt }: { readonly attempt: Attempt }) {
  const { number, at, duration_ms, status_code, error, response, manual, resent } = attempt;
  return (
    <Stack gap={4} component="li">
      <Group gap="xs">
        <Text size="sm" fw={600}>
          Attempt {number}
        </Text>
        <Badge variant="light" tt="none" color={error === null ? 'green' : 'red'} autoContrast>
          {status_code ?? reasonLabel(error?.code ?? '')}
        </Badge>
        <Text size="xs" c="dimmed">
          <Time value={at} seconds /> · {duration_ms} ms{manual && ' · asked for by a person'}
          {resent && ' · sent once more on a new connection'}
        </Text>
      </Group>
      {error !== null && <Text size="sm">{error.message}</Text>}
      {response !== null && (
        <details>
          <summary>
            <Text span size="sm">
              What it answered
            </Text>
          </summary>
          <Headers headers={response.headers} />
          {response.body === '' ? (
            <Text size="sm" c="dimmed">
              Without a body.
            </Text>
          ) : (
            <Code block tabIndex={0} role="region" aria-label={`Body of the answer to attempt ${number}`} mah={320}>
              {response.body}
            </Code>
          )}
        </details>
      )}
    </Stack>
  );
}

export function Headers({ headers }: { readonly headers: Readonly<Record<string, string>> }) {
  return (
    <Table.ScrollContainer minWidth={320} scrollAreaProps={SCROLLED_BY_KEY}>
      <Table layout="auto" verticalSpacing={4}>
        <Table.Tbody>
          {Object.entries(headers).map(([name, value]) => (
            <Table.Tr key={name}>
              <Table.Th scope="row" w={200}>
                <Text size="xs" fw={600}>
                  {name}
                </Text>
              </Table.Th>
              <Table.Td>
                <Text size="xs" ff="monospace">
                  {value}
                </Text>
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}
