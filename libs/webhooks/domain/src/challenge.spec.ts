import { answersChallenge } from './challenge.ts';

const token = 'a-token';

describe('the answer to a challenge', () => {
  test.each([
    [200, token],
    [204, token],
    [200, ` ${token}\r\n`],
    [200, '{"challenge": "a-token"}'],
    [201, ' {"challenge":"a-token","more":1}\n'],
    [200, '"a-token"\n'],
  ])('%i %j proves ownership', (status, body) => expect(answersChallenge(status, body, token)).toBe(true));

  test.each([
    [200, ''],
    [200, 'ok'],
    [200, 'a-token-and-more'],
    [200, '"other"'],
    [200, 'null'],
    [200, '["a-token"]'],
    [200, '{"challenge":"other"}'],
    [200, '{"type":"endpoint.verification","data":{"challenge":"a-token"}}'],
    [200, '{"challenge":["a-token"]}'],
    [200, '{"challenge":'],
    [302, token],
    [400, token],
    [500, '{"challenge":"a-token"}'],
  ])('%i %j does not', (status, body) => expect(answersChallenge(status, body, token)).toBe(false));
});
