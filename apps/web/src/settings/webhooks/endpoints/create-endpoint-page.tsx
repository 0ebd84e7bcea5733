import { Alert, Button, Group, Paper, Stack } from '@mantine/core';
import { failureText } from '../../../app/failures.ts';
import { LinkAnchor, LinkButton, PageHeader } from '../../../app/page.tsx';
import { OneTimeSecret } from '../../../app/one-time-secret.tsx';
import { useWrite } from '../../../app/write.ts';
import { useApi } from '../../../session/session.ts';
import { ENDPOINT_QUERY_KEYS } from '../webhook-queries.ts';
import { type EndpointValues, NEW_ENDPOINT, toRequestBody } from './endpoint-fields.ts';
import { EndpointFormFields, showFieldErrors, useEndpointForm } from './endpoint-form.tsx';

export function CreateEndpointPage() {
  const client = useApi();
  const form = useEndpointForm(NEW_ENDPOINT);
  const create = useWrite({
    write: (values: EndpointValues) => client.webhookEndpoints.create(toRequestBody(values)),
    invalidates: ENDPOINT_QUERY_KEYS,
    showsError: (error) => {
      showFieldErrors(form, error);
      return true;
    },
  });
  return (
    <Stack maw={720}>
      <LinkAnchor to="/settings/webhooks" size="sm">
        Webhooks
      </LinkAnchor>
      {create.isSuccess ? (
        <>
          <PageHeader title="The endpoint is made" about="It gets nothing yet: it is to answer a challenge first." />
          <Paper withBorder p="md">
            <Stack>
              <OneTimeSecret label="Signing secret" secret={create.data.secret} />
              <Group justify="end">
                <LinkButton to="/settings/webhooks/$endpointId" params={{ endpointId: create.data.id }}>
                  Go on to the challenge
                </LinkButton>
              </Group>
            </Stack>
          </Paper>
        </>
      ) : (
        <>
          <PageHeader title="Add an endpoint" />
          <form noValidate onSubmit={form.onSubmit((values) => create.mutate(values))}>
            <Stack>
              {create.isError && (
                <Alert color="red" role="alert" title="No endpoint was made">
                  {failureText(create.error, Object.keys(form.values))}
                </Alert>
              )}
              <EndpointFormFields form={form} />
              <Group justify="end">
                <LinkButton to="/settings/webhooks" variant="default">
                  Cancel
                </LinkButton>
                <Button type="submit" loading={create.isPending}>
                  Add the endpoint
                </Button>
              </Group>
            </Stack>
          </form>
        </>
      )}
    </Stack>
  );
}
