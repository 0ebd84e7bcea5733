import { InvalidRequestError } from '@tracking/client';
import { formatUnshownErrors, formatFormFailure } from './failures.ts';

const refusedFor = (...params: string[]) =>
  new InvalidRequestError({
    status: 400,
    headers: {},
    error: {
      message: 'It is not valid.',
      details: params.map((param) => ({ param, code: 'invalid', message: `Not this ${param}.` })),
    },
  } as never);

it.each([
  { of: refusedFor('password'), is: undefined },
  { of: refusedFor('password', 'name', 'token'), is: 'name: Not this name. token: Not this token.' },
  { of: refusedFor(), is: 'It is not valid.' },
  { of: new Error('It broke.'), is: 'It broke.' },
])('shows errors without a field next to a form with a password: $is', ({ of, is }) => {
  expect(formatUnshownErrors(of, ['email', 'password'])).toBe(is);
});

it.each([
  { of: refusedFor('password', 'name'), is: 'name: Not this name.' },
  { of: refusedFor('password', 'headers.X-Site'), is: 'headers.X-Site: Not this headers.X-Site.' },
  { of: refusedFor('password', 'types[0]'), is: 'It is not valid.' },
  { of: new Error('It broke.'), is: 'It broke.' },
])('summarizes the failure of a form: $is', ({ of, is }) => {
  expect(formatFormFailure(of, ['password', 'types'])).toBe(is);
});
