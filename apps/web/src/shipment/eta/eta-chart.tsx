import { useState } from 'react';
import { CartesianGrid, Line, LineChart, ReferenceLine, ResponsiveContainer, Tooltip, XAxis, YAxis } from 'recharts';
import { USER_TIME_ZONE, formatInstantInZone } from '../../values/zones.ts';
import { type EtaChange, buildEtaPoints, useShipmentOfPage } from '../shipment-queries.ts';
import classes from './eta-chart.module.css';

const DAY_MS = 86_400_000;
const DAY_FORMAT_OPTIONS = { day: 'numeric', month: 'short' } as const;
const dayFormat = new Intl.DateTimeFormat(undefined, DAY_FORMAT_OPTIONS);
const hourFormat = new Intl.DateTimeFormat(undefined, { ...DAY_FORMAT_OPTIONS, hour: '2-digit', minute: '2-digit' });
/**
 * Creates the formatter of the axis labels. If the times are more than six days apart, labels show only the date,
 * otherwise the date and the hour.
 */
const createTickFormatter = (times: readonly number[]) => {
  const { format } = Math.max(...times) - Math.min(...times) > 6 * DAY_MS ? dayFormat : hourFormat;
  return (time: number) => format(time);
};
const formatChartTime = (time: unknown) =>
  typeof time === 'number' ? formatInstantInZone(new Date(time).toISOString(), USER_TIME_ZONE) : '—';

/** Step chart of the changes of the ETA. The table below the chart contains the same values. */
export default function EtaChart({ changes }: { readonly changes: readonly EtaChange[] }) {
  const [now] = useState(() => Date.now());
  const { original_eta } = useShipmentOfPage();
  const points = buildEtaPoints(changes, now);
  const etas = points.flatMap(({ eta }) => eta ?? []);
  const axis = { type: 'number', stroke: 'var(--mantine-color-dimmed)', fontSize: 12 } as const;
  return (
    <div className={classes['chart']} aria-hidden>
      <ResponsiveContainer width="100%" height="100%">
        <LineChart data={points} margin={{ top: 8, right: 16, bottom: 0, left: 0 }} accessibilityLayer={false}>
          <CartesianGrid stroke="var(--mantine-color-default-border)" vertical={false} />
          <XAxis
            {...axis}
            dataKey="reported"
            domain={['dataMin', 'dataMax']}
            scale="time"
            tickCount={4}
            tickMargin={8}
            height={36}
            tickFormatter={createTickFormatter(points.map(({ reported }) => reported))}
          />
          <YAxis
            {...axis}
            dataKey="eta"
            domain={[`dataMin - ${DAY_MS}`, `dataMax + ${DAY_MS}`]}
            scale="time"
            width={108}
            tickCount={5}
            tickFormatter={createTickFormatter(etas)}
          />
          <Tooltip
            formatter={(eta) => [formatChartTime(eta), 'Estimated arrival']}
            labelFormatter={(reported) => `Reported ${formatChartTime(reported)}`}
            wrapperClassName={classes['tooltip'] ?? ''}
            isAnimationActive={false}
          />
          {original_eta !== null && (
            <ReferenceLine
              y={Date.parse(original_eta)}
              stroke="var(--mantine-color-dimmed)"
              strokeDasharray="4 4"
              label={{
                value: 'Original ETA',
                position: 'insideBottomRight',
                fill: 'var(--mantine-color-dimmed)',
                fontSize: 12,
              }}
            />
          )}
          <Line
            dataKey="eta"
            type="stepAfter"
            stroke="var(--mantine-color-anchor)"
            strokeWidth={2}
            dot={{ r: 3 }}
            isAnimationActive={false}
          />
        </LineChart>
      </ResponsiveContainer>
    </div>
  );
}
