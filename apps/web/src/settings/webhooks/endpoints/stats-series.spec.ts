import {
  type EndpointStats,
  buildStatsChartColumns,
  assessEndpointHealth,
  formatPercent,
  getStatsStart,
  sumHourlyStats,
} from './stats-series.ts';

describe('stats series', () => {
  const NOW = Date.parse('2026-11-23T09:30:00Z');

  function hour(
    at: string,
    succeeded: number,
    failed: number,
    p95: number | null = null,
  ): EndpointStats['hours'][number] {
    return {
      hour: at,
      attempts: { succeeded, failed },
      deliveries: { succeeded, dead_lettered: failed, discarded: 0 },
      latency_ms: { p50: p95, p95, p99: p95, max: p95 },
      is_exact: true,
    };
  }

  describe('columns of the chart', () => {
    it.each([
      ['day', 24, '2026-11-22T10:00:00.000Z', '2026-11-23T09:00:00.000Z'],
      ['week', 28, '2026-11-16T12:00:00.000Z', '2026-11-23T06:00:00.000Z'],
      ['month', 30, '2026-10-25T00:00:00.000Z', '2026-11-23T00:00:00.000Z'],
    ] as const)('covers a %s with %i columns without a gap', (window, count, first, last) => {
      const columns = buildStatsChartColumns({ hours: [] }, window, NOW);
      expect([columns.length, columns[0]?.at, columns.at(-1)?.at]).toEqual([count, first, last]);
      expect(getStatsStart(window, NOW)).toBe(first);
      expect(columns.every(({ succeeded, p95 }) => succeeded === 0 && p95 === null)).toBe(true);
    });

    it('adds up the hours of a column and keeps the slowest latency', () => {
      const hours = [hour('2026-11-23T06:00:00.000Z', 3, 1, 40), hour('2026-11-23T08:00:00.000Z', 2, 0, 90)];
      expect(buildStatsChartColumns({ hours }, 'week', NOW).at(-1)).toEqual({
        ...{ at: '2026-11-23T06:00:00.000Z', succeeded: 5, failed: 1, deadLettered: 1, p50: 90, p95: 90 },
      });
      expect(buildStatsChartColumns({ hours }, 'day', NOW).at(-2)).toMatchObject({ succeeded: 2, p95: 90 });
    });
  });

  describe('totals', () => {
    it('has no success rate without attempts', () =>
      expect(sumHourlyStats({ hours: [] })).toEqual({
        ...{ attempts: 0, failed: 0, deadLettered: 0, success: undefined, p95: null, isExact: true },
      }));

    it('adds up all hours', () => {
      const hours = [
        hour('2026-11-23T06:00:00.000Z', 3, 1, 40),
        { ...hour('2026-11-23T07:00:00.000Z', 4, 0), is_exact: false },
      ];
      expect(sumHourlyStats({ hours })).toEqual({
        attempts: 8,
        failed: 1,
        deadLettered: 1,
        success: 7 / 8,
        p95: 40,
        isExact: false,
      });
    });

    it.each([
      [1, '100 %'],
      [0.9999, '99.9 %'],
      [0.5, '50 %'],
      [0, '0 %'],
    ])('formats %d as %s', (share, text) => expect(formatPercent(share)).toBe(text));
  });
});

describe('endpoint health', () => {
  const [EARLY, LATE] = ['2026-11-23T09:00:00.000Z', '2026-11-23T09:10:00.000Z'];

  function stats(success: string | null, failure: string | null, [succeeded, failed] = [0, 0]): EndpointStats {
    return {
      ...{
        endpoint_id: 'whe_1',
        since: EARLY,
        until: LATE,
        waiting: { count: 0, is_at_least: false, oldest_at: null },
      },
      hours: [
        {
          ...{ hour: EARLY, attempts: { succeeded, failed }, is_exact: true },
          deliveries: { succeeded: 0, dead_lettered: 0, discarded: 0 },
          latency_ms: { p50: 1, p95: 1, p99: 1, max: 1 },
        },
      ],
      last_success_at: success,
      last_error:
        failure === null ? null : { at: failure, code: 'timeout', message: 'It took too long.', status_code: null },
    };
  }

  describe('the health of an endpoint', () => {
    it.each([
      ['off', 'disabled', stats(LATE, null)],
      ['off', 'pending_verification', stats(null, LATE)],
      ['idle', 'enabled', stats(null, null)],
      ['healthy', 'enabled', stats(LATE, null, [4, 0])],
      ['healthy', 'enabled', stats(LATE, EARLY, [19, 1])],
      ['unsteady', 'enabled', stats(LATE, EARLY, [18, 1])],
      ['failing', 'enabled', stats(EARLY, LATE, [99, 1])],
      ['failing', 'enabled', stats(null, LATE, [0, 1])],
    ] as const)('assesses the health of an endpoint with %s as %s', (health, status, of) =>
      expect(assessEndpointHealth({ status }, of)).toBe(health),
    );
  });
});
