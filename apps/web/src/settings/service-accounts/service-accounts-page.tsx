import {
  Alert,
  Anchor,
  Badge,
  Button,
  Group,
  Menu,
  Modal,
  Stack,
  Table,
  Text,
  TextInput,
  VisuallyHidden,
} from '@mantine/core';
import { useForm } from '@mantine/form';
import { IconPlus } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { getFieldErrors, isOutdatedVersionError } from '../../app/failures.ts';
import { confirmAction } from '../../app/overlays.tsx';
import { PageHeader, FormErrorAlert, QueryResultPanel } from '../../app/page.tsx';
import { RowMenu } from '../../app/row-menu.tsx';
import { useApiWrite } from '../../app/write.ts';
import { PermissionGuardedButton, PagePermissionGate } from '../../session/permissions.tsx';
import { ROLE_LABELS, type Role } from '../../session/roles.ts';
import { useApi, useEnvironment, useHasPermission } from '../../session/session.ts';
import { UserLocalTimeText } from '../../values/time.tsx';
import { type ServiceAccount, apiKeysQuery, serviceAccountsQuery, getKeyState } from '../api-keys/key-queries.ts';
import { RoleField } from '../settings-parts.tsx';
import { ServiceAccountKeysDialog } from './account-keys.tsx';

export function ServiceAccountsPage() {
  return (
    <PagePermissionGate permission="keys:manage">
      <ServiceAccountsSection />
    </PagePermissionGate>
  );
}

function ServiceAccountsSection() {
  const accounts = useQuery(serviceAccountsQuery(useEnvironment()));
  const { account: shownId } = useSearch({ from: '/signed-in/settings/service-accounts' });
  const navigate = useNavigate({ from: '/settings/service-accounts' });
  const show = (account?: string) => void navigate({ search: (now) => ({ ...now, account }) });
  /** Service account that the form edits. If left out, the form creates a new account. */
  const [form, setForm] = useState<{ readonly account?: ServiceAccount }>();
  const closeForm = () => setForm(undefined);
  return (
    <Stack>
      <PageHeader
        title="Service accounts"
        about="Accounts for your systems, each with one role. Their keys keep working when a user leaves."
        actions={
          <PermissionGuardedButton permission="workspace:admin">
            <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={() => setForm({})}>
              Create account
            </Button>
          </PermissionGuardedButton>
        }
      />
      <QueryResultPanel query={accounts} what="the service accounts">
        {(all) => (
          <>
            {all.length === 0 ? (
              <Alert title="No service accounts yet">
                Create one account for each system that sends or reads shipments, such as a transport management system
                or a carrier feed.
              </Alert>
            ) : (
              <ServiceAccountTable
                accounts={all}
                onKeys={({ id }) => show(id)}
                onChange={(account) => setForm({ account })}
              />
            )}
            <ServiceAccountKeysDialog account={all.find(({ id }) => id === shownId)} onClose={() => show()} />
          </>
        )}
      </QueryResultPanel>
      <Modal
        opened={form !== undefined}
        onClose={closeForm}
        title={form?.account === undefined ? 'Create service account' : `Edit ${form.account.name}`}
      >
        {form !== undefined && (
          <ServiceAccountForm
            account={form.account}
            onClose={closeForm}
            onCreated={({ id }) => {
              closeForm();
              show(id);
            }}
          />
        )}
      </Modal>
    </Stack>
  );
}

const ACCOUNT_STATUS_LABELS: Readonly<Record<ServiceAccount['status'], string>> = {
  active: 'Active',
  deactivated: 'Disabled',
};

interface ServiceAccountTableProps {
  readonly accounts: readonly ServiceAccount[];
  readonly onKeys: (account: ServiceAccount) => void;
  readonly onChange: (account: ServiceAccount) => void;
}

function ServiceAccountTable({ accounts, onKeys, onChange }: ServiceAccountTableProps) {
  const keys = useQuery(apiKeysQuery(useEnvironment()));
  const mayChange = useHasPermission('workspace:admin');
  const keysOf = (account: ServiceAccount) => {
    // The number of keys of an administrator account is hidden from users who may not change administrators.
    if (keys.data === undefined || (account.role === 'admin' && !mayChange)) return '—';
    return keys.data.filter((key) => key.owner.id === account.id && getKeyState(key, Date.now()) === 'active').length;
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
            <Table.Th>Created</Table.Th>
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
                <UserLocalTimeText value={account.created_at} day />
              </Table.Td>
              <Table.Td ta="end" className="rowActions">
                {mayChange && <ServiceAccountMenu account={account} onChange={onChange} />}
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

interface ServiceAccountMenuProps {
  readonly account: ServiceAccount;
  readonly onChange: ServiceAccountTableProps['onChange'];
}

function ServiceAccountMenu({ account, onChange }: ServiceAccountMenuProps) {
  const client = useApi();
  const { id, name, status } = account;
  const touches = [['service-accounts'], ['api-keys']];
  const disable = useApiWrite({
    write: () => client.serviceAccounts.deactivate(id),
    done: `${name} is disabled.`,
    invalidates: touches,
  });
  const enable = useApiWrite({
    write: () => client.serviceAccounts.reactivate(id),
    done: `${name} is enabled.`,
    invalidates: touches,
  });
  const confirmDisable = () =>
    confirmAction({
      title: `Disable service account ${name}?`,
      children: (
        <Text size="sm">
          All keys of the account are rejected within five seconds, until the account is enabled again. To end a key
          permanently, revoke it.
        </Text>
      ),
      labels: { confirm: 'Disable', cancel: 'Cancel' },
      confirmProps: { color: 'red' },
      onConfirm: () => disable.mutate(),
    });
  return (
    <RowMenu of={name}>
      <Menu.Item onClick={() => onChange(account)}>Edit…</Menu.Item>
      {status === 'active' ? (
        <Menu.Item color="red" onClick={confirmDisable}>
          Disable…
        </Menu.Item>
      ) : (
        <Menu.Item onClick={() => enable.mutate()}>Enable</Menu.Item>
      )}
    </RowMenu>
  );
}

interface AccountFormProps {
  /** Service account that the form edits. If left out, the form creates a new account. */
  readonly account?: ServiceAccount;
  readonly onClose: () => void;
  readonly onCreated: (account: ServiceAccount) => void;
}

function ServiceAccountForm({ account, onClose, onCreated }: AccountFormProps) {
  const client = useApi();
  const form = useForm({
    mode: 'controlled',
    initialValues: { name: account?.name ?? '', role: account?.role ?? ('operator' as Role) },
    validate: { name: (name) => (name.trim() === '' ? 'Enter the name of the system' : null) },
  });
  const save = useApiWrite<typeof form.values, ServiceAccount>({
    write: (fields) =>
      account === undefined
        ? client.serviceAccounts.create(fields)
        : client.serviceAccounts.patch(account.id, fields, { ifMatch: `"${account.version}"` }),
    done: ({ name }) => `${name} is saved.`,
    invalidates: [['service-accounts'], ['api-keys']],
    onDone: (saved) => (account === undefined ? onCreated(saved) : onClose()),
    showsError: (error) => {
      form.setErrors(getFieldErrors(error) ?? {});
      return true;
    },
  });
  return (
    <form onSubmit={form.onSubmit((values) => save.mutate(values))}>
      <Stack>
        {isOutdatedVersionError(save.error) ? (
          <Alert color="red" role="alert" title="Not saved">
            Another user changed this service account after you opened it. Close this dialog and open it again to see
            the current values.
          </Alert>
        ) : (
          <FormErrorAlert error={save.error} fields={['name']} title="Not saved" />
        )}
        <TextInput {...form.getInputProps('name')} label="Name" placeholder="TMS" required data-autofocus />
        <RoleField value={form.values.role} onChange={(role) => form.setFieldValue('role', role)} />
        <Group justify="end">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" loading={save.isPending}>
            {account === undefined ? 'Create account' : 'Save'}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
