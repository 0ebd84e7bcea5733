// node --test signatures.test.ts
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { verify } from './signatures.ts';

for (const line of readFileSync(new URL('../vectors.tsv', import.meta.url), 'utf8')
  .trim()
  .split('\n')
  .slice(1)) {
  const [name = '', valid, now, secret = '', header, body = ''] = line.split('\t');
  void test(name, () => {
    assert.equal(verify(header, Buffer.from(body, 'base64'), secret, Number(now)), valid === 'yes');
  });
}
