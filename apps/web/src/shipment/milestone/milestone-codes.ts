import { queryOptions } from '@tanstack/react-query';
import type { Shipment, components } from '@tracking/client';
import { type Environment, api } from '../../session/api.ts';

type MilestoneCode = components['schemas']['MilestoneCode'];

/** The catalog: it changes with the release. */
export function milestoneCodesQuery(environment: Environment) {
  return queryOptions({
    queryKey: ['milestone-codes', environment],
    queryFn: async ({ signal }) => (await api(environment).milestones.codes({ signal })).data,
    staleTime: Infinity,
  });
}

/** For a select, in the usual course: those usual for the mode before the others. */
export function codeOptions(codes: readonly MilestoneCode[], mode: Shipment['mode']) {
  const isUsual = ({ modes }: MilestoneCode) => mode === null || modes.includes(mode);
  const items = (some: readonly MilestoneCode[]) => some.map(({ code, label }) => ({ value: code, label }));
  const unusual = codes.filter((code) => !isUsual(code));
  if (unusual.length === 0) return items(codes);
  return [
    { group: `Usual by ${mode}`, items: items(codes.filter(isUsual)) },
    { group: 'Others', items: items(unusual) },
  ];
}
