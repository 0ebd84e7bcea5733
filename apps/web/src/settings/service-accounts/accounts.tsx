import { ActionIcon, Anchor, Badge, Menu, Table, Text, VisuallyHidden } from '@mantine/core';
import { IconDots } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { askFirst } from '../../app/overlays.tsx';
import { useWrite } from '../../app/write.ts';
import { ROLE_LABELS } from '../../session/roles.ts';
import { useApi, useEnvironment, useMay } from '../../session/session.ts';
import { Time } from '../../values/time.tsx';
import { type ServiceAccount, keysQuery } from '../api-keys/key-queries.ts';
import { stateOf } from '../api-keys/key-state.ts';

export const ACCOUNT_STATUS_LABELS: Readonly<Record<ServiceAccount['status'], string>> = {
  active: 'Active',
  deactivated: 'Disabled',
};

interface Props {
  readonly accounts: readonly ServiceAccount[];
  readonly onKeys: (account: ServiceAccount) => void;
  readonly onChange: (account: ServiceAccount) => void;
}

export function Accounts({ accounts, onKeys, onChange }: Props) {
  const keys = useQuery(keysQuery(useEnvironment()));
  const mayChange = useMay('workspace:admin');
  const keysOf = (account: ServiceAccount) => {
    // Keys of administrators are not told to others.
    if (keys.data === undefined || (account.role === 'admin' && !mayChange)) return '—';
    return keys.data.filter((key) => key.owner.id === account.id && stateOf(key, Date.now()) === 'active').length;
  };
  return (
    <Table.ScrollContainer minWidth={640}>
      <Table verticalSpacing="xs">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Name</Table.Th>
            <Table.Th>Role</Table.Th>
            <Table.Th>Status</Table.Th>
            <Table.Th ta="end">Keys</Table.Th>
            <Table.Th>Made</Table.Th>
            <Table.Th>
              <VisuallyHidden>Actions</VisuallyHidden>
            </Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {accounts.map((account) => (
            <Table.Tr key={account.id}>
              <Table.Td>
                <Anchor component="button" type="button" size="sm" fw={500} onClick={() => onKeys(account)}>
                  {account.name}
                </Anchor>
              </Table.Td>
              <Table.Td>{ROLE_LABELS[account.role]}</Table.Td>
              <Table.Td>
                <Badge
                  color={account.status === 'active' ? 'green' : 'gray'}
                  variant="light"
                  tt="none"
                  miw="max-content"
                >
                  {ACCOUNT_STATUS_LABELS[account.status]}
                </Badge>
              </Table.Td>
              <Table.Td ta="end">{keysOf(account)}</Table.Td>
              <Table.Td>
                <Time value={account.created_at} day />
              </Table.Td>
              <Table.Td ta="end" className="rowActions">
                {mayChange && <Actions account={account} onChange={onChange} />}
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

interface ActionsProps {
  readonly account: ServiceAccount;
  readonly onChange: Props['onChange'];
}

function Actions({ account, onChange }: ActionsProps) {
  const client = useApi();
  const { id, name, status } = account;
  const touches = [['service-accounts'], ['api-keys']];
  const disable = useWrite({
    write: () => client.serviceAccounts.deactivate(id),
    done: `${name} is disabled.`,
    touches,
  });
  const enable = useWrite({ write: () => client.serviceAccounts.reactivate(id), done: `${name} is enabled.`, touches });
  const ask = () =>
    askFirst({
      title: `Disable ${name}?`,
      children: (
        <Text size="sm">
          All its keys are refused within five seconds, until it is enabled again. What is to end for good is revoked.
        </Text>
      ),
      labels: { confirm: 'Disable', cancel: 'Cancel' },
      confirmProps: { color: 'red' },
      onConfirm: () => disable.mutate(),
    });
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" aria-label={`What to do with ${name}`}>
          <IconDots size={18} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item onClick={() => onChange(account)}>Change…</Menu.Item>
        {status === 'active' ? (
          <Menu.Item color="red" onClick={ask}>
            Disable…
          </Menu.Item>
        ) : (
          <Menu.Item onClick={() => enable.mutate()}>Enable</Menu.Item>
        )}
      </Menu.Dropdown>
    </Menu>
  );
}
