/** How far back, and how many hours stand together in one column. */
export const WINDOWS = {
  day: { label: '24 hours', hours: 24, together: 1 },
  week: { label: '7 days', hours: 168, together: 6 },
  month: { label: '30 days', hours: 720, together: 24 },
} as const;
export type StatsWindow = keyof typeof WINDOWS;
export const STATS_WINDOWS = (Object.keys(WINDOWS) as StatsWindow[]).map((value) => ({
  value,
  label: WINDOWS[value].label,
}));
