import {
  Alert,
  Badge,
  Button,
  Code,
  Group,
  Menu,
  SegmentedControl,
  Select,
  Stack,
  Switch,
  Table,
  Text,
  TextInput,
  VisuallyHidden,
} from '@mantine/core';
import { useForm } from '@mantine/form';
import { IconPlus } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { formatFormFailure, getFieldErrors } from '../../app/failures.ts';
import { confirmAction } from '../../app/overlays.tsx';
import { PageHeader, QueryResultPanel } from '../../app/page.tsx';
import { RowMenu } from '../../app/row-menu.tsx';
import { SecretDialog, OneTimeSecret } from '../../app/one-time-secret.tsx';
import { useApiWrite } from '../../app/write.ts';
import { ENVIRONMENT_LABELS, type Environment } from '../../session/api.ts';
import { ROLE_LABELS } from '../../session/roles.ts';
import { useApi, useEnvironment, useHasPermission, useSession } from '../../session/session.ts';
import { UserLocalTimeText } from '../../values/time.tsx';
import { RotateSecretForm } from '../settings-parts.tsx';
import { getTeamMemberName, usersQuery } from '../team/team.ts';
import {
  type ApiKey,
  KEY_STATE_LABELS,
  type ServiceAccount,
  apiKeysQuery,
  canCreateKeysForServiceAccount,
  canRotateKey,
  serviceAccountsQuery,
  getKeyState,
} from './key-queries.ts';

type Dialog = { readonly kind: 'create' } | { readonly kind: 'rotate'; readonly key: ApiKey };

export function ApiKeysPage() {
  const keys = useQuery(apiKeysQuery(useEnvironment()));
  const [dialog, setDialog] = useState<Dialog>();
  const [showsEnded, setShowsEnded] = useState(false);
  const close = () => setDialog(undefined);
  return (
    <Stack>
      <PageHeader
        title="API keys"
        about="Keys that authenticate your systems and the command line."
        actions={
          <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={() => setDialog({ kind: 'create' })}>
            Create key
          </Button>
        }
      />
      <QueryResultPanel query={keys} what="the keys">
        {(all) => {
          const shown = all.filter((key) => showsEnded || getKeyState(key, Date.now()) === 'active');
          return (
            <>
              <Switch
                label="Show revoked and expired keys"
                checked={showsEnded}
                onChange={(event) => setShowsEnded(event.currentTarget.checked)}
              />
              {shown.length === 0 ? (
                <Alert title="No keys yet">A key lets one of your systems send shipments and milestones.</Alert>
              ) : (
                <ApiKeyTable keys={shown} onRotate={(key) => setDialog({ kind: 'rotate', key })} />
              )}
            </>
          );
        }}
      </QueryResultPanel>
      <SecretDialog
        opened={dialog !== undefined}
        onClose={close}
        title={dialog?.kind === 'rotate' ? 'Rotate key' : 'Create key'}
      >
        {dialog?.kind === 'create' && <CreateKeyForm onClose={close} />}
        {dialog?.kind === 'rotate' && <RotateKeyForm apiKey={dialog.key} onClose={close} />}
      </SecretDialog>
    </Stack>
  );
}

interface ApiKeyTableProps {
  readonly keys: readonly ApiKey[];
  readonly onRotate: (key: ApiKey) => void;
}

export function ApiKeyTable({ keys, onRotate }: ApiKeyTableProps) {
  const [client, { user }, ownerOf] = [useApi(), useSession(), useKeyOwnerNames()];
  const isAdmin = useHasPermission('workspace:admin');
  const revoke = useApiWrite({
    write: ({ id }: ApiKey) => client.keys.revoke(id),
    done: 'Key revoked.',
    invalidates: [['api-keys']],
  });
  const confirmRevoke = (key: ApiKey) =>
    confirmAction({
      title: `Revoke “${key.name}”?`,
      children: <Text size="sm">Requests with this key are rejected within five seconds. This cannot be undone.</Text>,
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
            <Table.Th>Key owner</Table.Th>
            <Table.Th>Last used</Table.Th>
            <Table.Th>Expires</Table.Th>
            <Table.Th>
              <VisuallyHidden>Actions</VisuallyHidden>
            </Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {keys.map((key) => {
            const state = getKeyState(key, Date.now());
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
                  {ownerOf(key.owner)} ({formatKeyRole(key)})
                </Table.Td>
                <Table.Td>
                  <UserLocalTimeText value={key.last_used_at} />
                </Table.Td>
                <Table.Td>
                  {state === 'active' ? <UserLocalTimeText value={key.expires_at} /> : KEY_STATE_LABELS[state]}
                </Table.Td>
                <Table.Td ta="end" className="rowActions">
                  {state === 'active' && (
                    <RowMenu of={key.name}>
                      {canRotateKey(key, user?.id, isAdmin) && (
                        <Menu.Item onClick={() => onRotate(key)}>Rotate…</Menu.Item>
                      )}
                      <Menu.Item color="red" onClick={() => confirmRevoke(key)}>
                        Revoke…
                      </Menu.Item>
                    </RowMenu>
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

/** Returns the role of the key's owner. If the key is limited to another role, this role is added. */
function formatKeyRole({ role, max_role }: ApiKey): string {
  if (max_role === null || max_role === role) return ROLE_LABELS[role];
  return `${ROLE_LABELS[role]}, limited to ${ROLE_LABELS[max_role]}`;
}

/**
 * Returns a function that returns the name of a key's owner. Names that the user may not read are replaced by a general
 * term.
 */
function useKeyOwnerNames(): (owner: ApiKey['owner']) => string {
  const [environment, { user }] = [useEnvironment(), useSession()];
  const accounts = useQuery({ ...serviceAccountsQuery(environment), enabled: useHasPermission('keys:manage') });
  const users = useQuery({ ...usersQuery(environment), enabled: useHasPermission('workspace:admin') });
  return ({ type, id }) => {
    if (id === user?.id) return 'Me';
    if (type === 'service_account') return accounts.data?.find((each) => each.id === id)?.name ?? 'Service account';
    const found = users.data?.find((each) => each.id === id);
    return found === undefined ? 'Another user' : getTeamMemberName(found);
  };
}

/** Option value for the user's own account in the owner field. */
const OWN_ACCOUNT_SELECT_VALUE = '';

interface CreateKeyFormProps {
  readonly onClose: () => void;
  /** Service account that owns the new key. If left out, the user chooses the owner in the form. */
  readonly account?: ServiceAccount;
}

export function CreateKeyForm({ onClose, account }: CreateKeyFormProps) {
  const [client, environment] = [useApi(), useEnvironment()];
  const managesKeys = useHasPermission('keys:manage');
  const isAdmin = useHasPermission('workspace:admin');
  const accounts = useQuery({ ...serviceAccountsQuery(environment), enabled: managesKeys && account === undefined });
  const form = useForm({
    mode: 'controlled',
    initialValues: { name: '', environment, owner: account?.id ?? OWN_ACCOUNT_SELECT_VALUE },
    validate: { name: (name) => (name.trim() === '' ? 'Enter a name' : null) },
  });
  const create = useApiWrite({
    write: ({ owner, ...key }: typeof form.values) =>
      client.keys.create({ ...key, ...(owner !== OWN_ACCOUNT_SELECT_VALUE && { service_account_id: owner }) }),
    invalidates: [['api-keys']],
    showsError: (error) => {
      form.setErrors(getFieldErrors(error) ?? {});
      return true;
    },
  });
  if (create.isSuccess) {
    return (
      <Stack>
        <OneTimeSecret label="Key" secret={create.data.key} />
        <Button onClick={onClose}>Done</Button>
      </Stack>
    );
  }
  return (
    <form onSubmit={form.onSubmit((values) => create.mutate(values))}>
      <Stack>
        {create.isError && (
          <Alert color="red" role="alert" title="Key not created">
            {formatFormFailure(create.error, ['name'])}
          </Alert>
        )}
        <TextInput {...form.getInputProps('name')} label="Name" placeholder="Nightly import" required data-autofocus />
        <Stack gap={4}>
          <Text size="sm" fw={500} id="key-environment">
            Environment
          </Text>
          <SegmentedControl
            aria-labelledby="key-environment"
            value={form.values.environment}
            onChange={(value) => form.setFieldValue('environment', value as Environment)}
            data={[
              { value: 'test', label: 'Test' },
              { value: 'live', label: 'Live' },
            ]}
          />
        </Stack>
        {managesKeys && account === undefined && (
          <Select
            {...form.getInputProps('owner')}
            label="Key owner"
            description={
              isAdmin
                ? 'Keys of a service account keep working when a user leaves.'
                : 'Keys of a service account keep working when a user leaves. If the account may do more than you in the environment, only an administrator can create its keys.'
            }
            allowDeselect={false}
            data={[
              { value: OWN_ACCOUNT_SELECT_VALUE, label: 'Me' },
              ...(accounts.data ?? [])
                .filter((each) => canCreateKeysForServiceAccount(each, isAdmin))
                .map(({ id, name, role }) => ({ value: id, label: `${name} (${ROLE_LABELS[role]})` })),
            ]}
          />
        )}
        <Group justify="end">
          <Button variant="default" onClick={onClose} disabled={create.isPending}>
            Cancel
          </Button>
          <Button type="submit" loading={create.isPending}>
            Create key
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

export function RotateKeyForm({ apiKey, onClose }: { readonly apiKey: ApiKey; readonly onClose: () => void }) {
  const client = useApi();
  return (
    <RotateSecretForm
      what="key"
      label="New key"
      rotate={async (seconds) => (await client.keys.rotate(apiKey.id, { grace_seconds: seconds })).key}
      touches={[['api-keys']]}
      onClose={onClose}
    >
      {`A new key replaces “${apiKey.name}”. Both keys are valid until the old key expires.`}
    </RotateSecretForm>
  );
}
