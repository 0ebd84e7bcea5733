import '@mantine/charts/styles.css';
import { BarChart } from '@mantine/charts';
import type { StatsWindow } from '../webhook-search.ts';
import type { AttemptCountsOfChartColumn } from './stats-series.ts';

const HOUR_LABEL_FORMAT = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' });
const DAY_LABEL_FORMAT = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short' });

interface StatsChartProps {
  readonly columns: readonly AttemptCountsOfChartColumn[];
  readonly window: StatsWindow;
}

/** Stacked bar chart of succeeded and failed attempts. A table on the same page contains the same data. */
export default function StatsChart({ columns, window }: StatsChartProps) {
  const format = window === 'day' ? HOUR_LABEL_FORMAT : DAY_LABEL_FORMAT;
  const data = columns.map(({ at, succeeded, failed }) => ({
    at: format.format(new Date(at)),
    succeeded,
    failed,
  }));
  return (
    <div aria-hidden>
      <BarChart
        h={220}
        data={data}
        dataKey="at"
        type="stacked"
        withLegend
        series={[
          { name: 'succeeded', label: 'Succeeded attempts', color: 'green.7' },
          { name: 'failed', label: 'Failed attempts', color: 'red.7' },
        ]}
        barChartProps={{ accessibilityLayer: false }}
        barProps={{ isAnimationActive: false }}
        yAxisProps={{ allowDecimals: false, width: 40 }}
      />
    </div>
  );
}
