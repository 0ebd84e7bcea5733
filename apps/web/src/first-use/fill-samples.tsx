import { Button } from '@mantine/core';
import { IconSparkles } from '@tabler/icons-react';
import { useWrite } from '../app/write.ts';
import { api } from '../session/api.ts';
import { May } from '../session/may.tsx';
import { sampleJourneys } from './sample-journeys.ts';

/** Fills the test environment with invented journeys; pressed again it doubles none. */
export function FillSamples() {
  const fill = useWrite({
    write: async () => {
      const { shipments, milestones } = sampleJourneys(new Date());
      const made = await api('test').shipments.upsertMany(shipments);
      const told = await api('test').milestones.recordMany(milestones);
      const refused = [...made.data, ...told.data].find(({ error }) => error !== undefined);
      if (refused?.error !== undefined) throw new Error(refused.error.message);
      return made.data.filter(({ status }) => status === 201).length;
    },
    done: (made) => (made === 0 ? 'The sample journeys are there already.' : `${made} sample journeys are there now.`),
    touches: [
      ['shipments', 'test'],
      ['first-shipment', 'test'],
    ],
  });
  return (
    <May permission="shipments:write">
      <Button
        variant="default"
        leftSection={<IconSparkles size={16} aria-hidden />}
        loading={fill.isPending}
        onClick={() => fill.mutate()}
      >
        Fill with sample journeys
      </Button>
    </May>
  );
}
