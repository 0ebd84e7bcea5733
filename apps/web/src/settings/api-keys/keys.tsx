import { ActionIcon, Badge, Code, Menu, Table, Text, VisuallyHidden } from '@mantine/core';
import { IconDots } from '@tabler/icons-react';
import { askFirst } from '../../app/overlays.tsx';
import { useWrite } from '../../app/write.ts';
import { ENVIRONMENT_LABELS } from '../../session/api.ts';
import { ROLE_LABELS } from '../../session/roles.ts';
import { useApi, useSession } from '../../session/session.ts';
import { Time } from '../../values/time.tsx';
import type { ApiKey } from './key-queries.ts';
import { KEY_STATE_LABELS, mayRotate, stateOf } from './key-state.ts';
import { useOwnerNames } from './owner-names.ts';

interface Props {
  readonly keys: readonly ApiKey[];
  readonly onRotate: (key: ApiKey) => void;
}

export function Keys({ keys, onRotate }: Props) {
  const [client, { user }, ownerOf] = [useApi(), useSession(), useOwnerNames()];
  const revoke = useWrite({
    write: ({ id }: ApiKey) => client.keys.revoke(id),
    done: 'The key is revoked.',
    touches: [['api-keys']],
  });
  const ask = (key: ApiKey) =>
    askFirst({
      title: `Revoke “${key.name}”?`,
      children: <Text size="sm">Whatever uses it is refused within five seconds. This cannot be undone.</Text>,
      labels: { confirm: 'Revoke', cancel: 'Cancel' },
      confirmProps: { color: 'red' },
      onConfirm: () => revoke.mutate(key),
    });
  return (
    <Table.ScrollContainer minWidth={760}>
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Name</Table.Th>
            <Table.Th>Key</Table.Th>
            <Table.Th>Acts as</Table.Th>
            <Table.Th>Last used</Table.Th>
            <Table.Th>Ends</Table.Th>
            <Table.Th>
              <VisuallyHidden>Actions</VisuallyHidden>
            </Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {keys.map((key) => {
            const state = stateOf(key, Date.now());
            return (
              <Table.Tr key={key.id}>
                <Table.Td>{key.name}</Table.Td>
                <Table.Td>
                  <Badge mr="xs" tt="none" variant="light" color={key.environment === 'test' ? 'orange' : 'blue'}>
                    {ENVIRONMENT_LABELS[key.environment]}
                  </Badge>
                  <Code>
                    {key.prefix}…{key.last_four}
                  </Code>
                </Table.Td>
                <Table.Td>
                  {ownerOf(key.owner)} ({ROLE_LABELS[key.role]})
                </Table.Td>
                <Table.Td>
                  <Time value={key.last_used_at} />
                </Table.Td>
                <Table.Td>{state === 'active' ? <Time value={key.expires_at} /> : KEY_STATE_LABELS[state]}</Table.Td>
                <Table.Td ta="end" className="rowActions">
                  {state === 'active' && (
                    <Menu position="bottom-end">
                      <Menu.Target>
                        <ActionIcon variant="subtle" color="gray" aria-label={`What to do with ${key.name}`}>
                          <IconDots size={18} />
                        </ActionIcon>
                      </Menu.Target>
                      <Menu.Dropdown>
                        {mayRotate(key, user?.id) && <Menu.Item onClick={() => onRotate(key)}>Rotate…</Menu.Item>}
                        <Menu.Item color="red" onClick={() => ask(key)}>
                          Revoke…
                        </Menu.Item>
                      </Menu.Dropdown>
                    </Menu>
                  )}
                </Table.Td>
              </Table.Tr>
            );
          })}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}
