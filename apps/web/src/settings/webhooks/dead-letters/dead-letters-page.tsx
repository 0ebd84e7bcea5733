import { Alert, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { PageHeader, Waiting } from '../../../app/page.tsx';
import { useEnvironment } from '../../../session/session.ts';
import { DeliveryFilters } from '../deliveries/delivery-filters.tsx';
import { deadLettersQuery } from '../webhook-queries.ts';
import { WebhookTabs } from '../webhooks-section.tsx';
import { DeadLetterList } from './dead-letter-list.tsx';
import { type DeadLetterSearch, summaryQuery } from './dead-letter-search.ts';
import { DeadLetterSummary, isNone } from './dead-letter-summary.tsx';
import { SettleDeadLetters } from './settle-dead-letters.tsx';

const NONE: ReadonlySet<string> = new Set();

export function DeadLettersPage() {
  const { environment: _everywhere, ...search } = useSearch({ from: '/signed-in/settings/webhooks/dead-letters' });
  const navigate = useNavigate({ from: '/settings/webhooks/dead-letters' });
  const summary = useQuery(deadLettersQuery(useEnvironment(), summaryQuery(search)));
  const [chosen, setChosen] = useState(NONE);
  const go = (to: DeadLetterSearch) => {
    setChosen(NONE);
    void navigate({ search: to, replace: true });
  };
  const isNarrowed = Object.keys(search).length > 0;
  return (
    <Stack>
      <PageHeader
        title="Dead letters"
        about="Deliveries that failed for good: replay them once their endpoint answers again."
      />
      <WebhookTabs at="/settings/webhooks/dead-letters" />
      <DeliveryFilters search={search} onChange={go} without={['status', 'event']} />
      <Waiting query={summary} what="the dead letters">
        {(counted) => (
          <>
            <SettleDeadLetters search={search} chosen={chosen} summary={counted} onDone={() => setChosen(NONE)} />
            {isNone(counted) ? (
              <Alert color="green" title={isNarrowed ? 'None fits' : 'There are none'}>
                {isNarrowed ? 'No dead letter is like that.' : 'Every delivery arrived, or is still being tried.'}
              </Alert>
            ) : (
              <>
                <DeadLetterSummary summary={counted} search={search} onChange={go} />
                <DeadLetterList search={search} selection={{ ids: chosen, onChange: setChosen }} />
              </>
            )}
          </>
        )}
      </Waiting>
    </Stack>
  );
}
