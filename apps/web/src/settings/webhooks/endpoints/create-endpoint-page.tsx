import { Alert, Button, Group, Paper, Stack } from '@mantine/core';
import { formatFormFailure } from '../../../app/failures.ts';
import { LinkAnchor, LinkButton, PageHeader } from '../../../app/page.tsx';
import { OneTimeSecret } from '../../../app/one-time-secret.tsx';
import { useApiWrite } from '../../../app/write.ts';
import { useApi } from '../../../session/session.ts';
import { ENDPOINT_QUERY_KEYS } from '../webhook-queries.ts';
import { type EndpointFormValues, NEW_ENDPOINT_VALUES, toEndpointRequestBody } from './endpoint-fields.ts';
import { EndpointFormFields, showFieldErrors, useEndpointForm } from './endpoint-form.tsx';

export function CreateEndpointPage() {
  const client = useApi();
  const form = useEndpointForm(NEW_ENDPOINT_VALUES);
  const create = useApiWrite({
    write: (values: EndpointFormValues) => client.webhookEndpoints.create(toEndpointRequestBody(values)),
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
          <PageHeader
            title="Endpoint created"
            about="The endpoint receives no events until you verify and enable it."
          />
          <Paper withBorder p="md">
            <Stack>
              <OneTimeSecret label="Signing secret" secret={create.data.secret} />
              <Group justify="end">
                <LinkButton to="/settings/webhooks/$endpointId" params={{ endpointId: create.data.id }}>
                  Continue to verification
                </LinkButton>
              </Group>
            </Stack>
          </Paper>
        </>
      ) : (
        <>
          <PageHeader title="Add endpoint" />
          <form noValidate onSubmit={form.onSubmit((values) => create.mutate(values))}>
            <Stack>
              {create.isError && (
                <Alert color="red" role="alert" title="Endpoint not added">
                  {formatFormFailure(create.error, Object.keys(form.values))}
                </Alert>
              )}
              <EndpointFormFields form={form} />
              <Group justify="end">
                <LinkButton to="/settings/webhooks" variant="default">
                  Cancel
                </LinkButton>
                <Button type="submit" loading={create.isPending}>
                  Add endpoint
                </Button>
              </Group>
            </Stack>
          </form>
        </>
      )}
    </Stack>
  );
}
