import { Stack } from '@mantine/core';
import { PageHeader } from '../app/page-header.tsx';
import { useEnvironment } from '../session/session.ts';
import { FirstSteps } from './first-steps.tsx';

export function FirstUsePage() {
  const environment = useEnvironment();
  return (
    <Stack maw={760}>
      <PageHeader
        title="Get started"
        about={`From nothing to the first event, in the ${environment} environment. Live and test share no data.`}
      />
      <FirstSteps />
    </Stack>
  );
}
