import { Alert, Button, Stack, Switch } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { SecretDialog } from '../../app/shown-once.tsx';
import { PageHeader, Waiting } from '../../app/page.tsx';
import { useEnvironment } from '../../session/session.ts';
import { CreateKey, Keys, RotateKey } from './keys.tsx';
import { type ApiKey, keysQuery, stateOf } from './key-queries.ts';

type Dialog = { readonly kind: 'create' } | { readonly kind: 'rotate'; readonly key: ApiKey };

export function ApiKeysPage() {
  const keys = useQuery(keysQuery(useEnvironment()));
  const [dialog, setDialog] = useState<Dialog>();
  const [showsEnded, setShowsEnded] = useState(false);
  const close = () => setDialog(undefined);
  return (
    <Stack>
      <PageHeader
        title="API keys"
        about="What systems, and you at the command line, sign in with."
        actions={
          <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={() => setDialog({ kind: 'create' })}>
            Make a key
          </Button>
        }
      />
      <Waiting query={keys} what="the keys">
        {(all) => {
          const shown = all.filter((key) => showsEnded || stateOf(key, Date.now()) === 'active');
          return (
            <>
              <Switch
                label="Ended ones too"
                checked={showsEnded}
                onChange={(event) => setShowsEnded(event.currentTarget.checked)}
              />
              {shown.length === 0 ? (
                <Alert title="No keys yet">A key lets a system of yours send shipments and milestones.</Alert>
              ) : (
                <Keys keys={shown} onRotate={(key) => setDialog({ kind: 'rotate', key })} />
              )}
            </>
          );
        }}
      </Waiting>
      <SecretDialog
        opened={dialog !== undefined}
        onClose={close}
        title={dialog?.kind === 'rotate' ? 'Rotate the key' : 'Make a key'}
      >
        {dialog?.kind === 'create' && <CreateKey onClose={close} />}
        {dialog?.kind === 'rotate' && <RotateKey apiKey={dialog.key} onClose={close} />}
      </SecretDialog>
    </Stack>
  );
}
