import { choiceOf } from './typed-choice.ts';

const CHOICES = ['Discharged', 'Discharged at transshipment port', 'Vessel departed'].map((label) => ({
  value: label.toLowerCase(),
  label,
}));

it.each([
  ['vessel', 'Vessel departed'],
  [' VESSEL DEP ', 'Vessel departed'],
  ['discharged', 'Discharged'],
  ['disch', undefined],
  ['gate', undefined],
  [' ', undefined],
])('“%s” means %s', (text, label) => {
  expect(choiceOf(text, CHOICES)?.label).toBe(label);
});
