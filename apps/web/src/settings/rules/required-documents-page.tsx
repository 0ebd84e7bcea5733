import { Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { PageHeader, Waiting } from '../../app/page.tsx';
import { OnlyWith } from '../../session/permissions.tsx';
import { useEnvironment } from '../../session/session.ts';
import { LastChange } from './recheck.tsx';
import { RequiredForm } from './required-form.tsx';
import { settingsQuery } from './settings-queries.ts';

/** Which documents a shipment needs, by its mode. */
export function RequiredDocumentsPage() {
  return (
    <OnlyWith permission="workspace:admin">
      <RequiredDocuments />
    </OnlyWith>
  );
}

function RequiredDocuments() {
  const settings = useQuery(settingsQuery(useEnvironment()));
  return (
    <Stack maw={720}>
      <PageHeader
        title="Required documents"
        about="What a shipment of each mode needs. Where one is absent as the arrival comes near, “Missing document” opens."
      />
      <Waiting query={settings} what="the settings">
        {(known) => (
          <>
            <LastChange settings={known} />
            <RequiredForm settings={known} />
          </>
        )}
      </Waiting>
    </Stack>
  );
}
