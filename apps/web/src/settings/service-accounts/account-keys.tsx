import { Alert, Button, Drawer, Group, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { QueryResultPanel } from '../../app/page.tsx';
import { SecretDialog } from '../../app/one-time-secret.tsx';
import { ROLE_DESCRIPTIONS, ROLE_LABELS } from '../../session/roles.ts';
import { useEnvironment, useHasPermission } from '../../session/session.ts';
import { CreateKeyForm, ApiKeyTable, RotateKeyForm } from '../api-keys/api-keys-page.tsx';
import {
  type ApiKey,
  type ServiceAccount,
  apiKeysQuery,
  canCreateKeysForServiceAccount,
  getKeyState,
} from '../api-keys/key-queries.ts';

interface AccountKeysProps {
  /** Service account whose keys the dialog shows. If undefined, the dialog is closed. */
  readonly account: ServiceAccount | undefined;
  readonly onClose: () => void;
}

type Dialog = { readonly kind: 'create' } | { readonly kind: 'rotate'; readonly key: ApiKey };

export function ServiceAccountKeysDialog({ account, onClose }: AccountKeysProps) {
  const [dialog, setDialog] = useState<Dialog>();
  const close = () => setDialog(undefined);
  return (
    <>
      <Drawer
        opened={account !== undefined}
        onClose={onClose}
        position="right"
        size="xl"
        title={account && `Keys of ${account.name}`}
        closeOnEscape={dialog === undefined}
      >
        {account !== undefined && <AccountKeyList account={account} onOpenDialog={setDialog} />}
      </Drawer>
      <SecretDialog
        opened={dialog !== undefined}
        onClose={close}
        title={dialog?.kind === 'rotate' ? 'Rotate key' : `Create key for ${account?.name ?? ''}`}
      >
        {dialog?.kind === 'create' && <CreateKeyForm account={account} onClose={close} />}
        {dialog?.kind === 'rotate' && <RotateKeyForm apiKey={dialog.key} onClose={close} />}
      </SecretDialog>
    </>
  );
}

function AccountKeyList({
  account,
  onOpenDialog,
}: {
  readonly account: ServiceAccount;
  readonly onOpenDialog: (dialog: Dialog) => void;
}) {
  const [keys, isAdmin] = [useQuery(apiKeysQuery(useEnvironment())), useHasPermission('workspace:admin')];
  if (account.role === 'admin' && !isAdmin) {
    return <Alert title="Permission required">Only administrators can manage keys of administrator accounts.</Alert>;
  }
  return (
    <Stack>
      <Group justify="space-between">
        <Text size="sm" c="dimmed">
          {ROLE_LABELS[account.role]}. {ROLE_DESCRIPTIONS[account.role]}
        </Text>
        {canCreateKeysForServiceAccount(account, isAdmin) && (
          <Button onClick={() => onOpenDialog({ kind: 'create' })}>Create key</Button>
        )}
      </Group>
      {account.status === 'deactivated' && (
        <Alert color="yellow" title="Account disabled">
          Keys of this account are rejected until it is enabled again.
        </Alert>
      )}
      <QueryResultPanel query={keys} what="its keys">
        {(all) => {
          const active = all.filter((key) => key.owner.id === account.id && getKeyState(key, Date.now()) === 'active');
          if (active.length === 0)
            return (
              <Alert title="No keys yet">
                Create a key so that the system can authenticate. The key is shown once.
              </Alert>
            );
          return <ApiKeyTable keys={active} onRotate={(key) => onOpenDialog({ kind: 'rotate', key })} />;
        }}
      </QueryResultPanel>
    </Stack>
  );
}
