import { Alert, Button, Modal, Stack } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { PageHeader, Waiting } from '../../app/page.tsx';
import { May, OnlyWith } from '../../session/permissions.tsx';
import { useEnvironment } from '../../session/session.ts';
import { type ServiceAccount, serviceAccountsQuery } from '../api-keys/key-queries.ts';
import { AccountForm } from './account-form.tsx';
import { AccountKeys } from './account-keys.tsx';
import { Accounts } from './accounts.tsx';

export function ServiceAccountsPage() {
  return (
    <OnlyWith permission="keys:manage">
      <ServiceAccounts />
    </OnlyWith>
  );
}

function ServiceAccounts() {
  const accounts = useQuery(serviceAccountsQuery(useEnvironment()));
  const { account: shownId } = useSearch({ from: '/signed-in/settings/service-accounts' });
  const navigate = useNavigate({ from: '/settings/service-accounts' });
  const show = (account?: string) => void navigate({ search: (now) => ({ ...now, account }) });
  /** The one that is changed, or none: a new one. */
  const [form, setForm] = useState<{ readonly account?: ServiceAccount }>();
  const closeForm = () => setForm(undefined);
  return (
    <Stack>
      <PageHeader
        title="Service accounts"
        about="What systems act as, each with one role: their keys go on when a person leaves."
        actions={
          <May permission="workspace:admin">
            <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={() => setForm({})}>
              Make an account
            </Button>
          </May>
        }
      />
      <Waiting query={accounts} what="the service accounts">
        {(all) => (
          <>
            {all.length === 0 ? (
              <Alert title="No service accounts yet">
                One for each system that sends or reads shipments: a transport management system, a carrier’s feed.
              </Alert>
            ) : (
              <Accounts accounts={all} onKeys={({ id }) => show(id)} onChange={(account) => setForm({ account })} />
            )}
            <AccountKeys account={all.find(({ id }) => id === shownId)} onClose={() => show()} />
          </>
        )}
      </Waiting>
      <Modal
        opened={form !== undefined}
        onClose={closeForm}
        title={form?.account === undefined ? 'Make a service account' : `Change ${form.account.name}`}
      >
        {form !== undefined && (
          <AccountForm
            account={form.account}
            onClose={closeForm}
            onMade={({ id }) => {
              closeForm();
              show(id);
            }}
          />
        )}
      </Modal>
    </Stack>
  );
}
