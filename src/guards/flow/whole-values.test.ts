// Tests that addresses, hosts and account numbers are compared as wholes, and in linear time.
import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import { FlowState, type FlowEntry } from './flow-state.ts';
import { labelValue } from './label-value.ts';
import { hostOf, splitRuns } from './whole-values.ts';

const label = (role: 'recipient' | 'account' | 'url', value: string, entry: FlowEntry): string =>
  labelValue(FlowState.create({}, [entry]), role, value).label;

for (const [role, typed, value, isUser] of [
  ['url', 'Log in at bank.example.com', 'https://bank.example/login', false],
  ['url', 'Log in at bank.example', 'https://bank.example.com/login', false],
  ['url', 'Log in at my.bank.example', 'https://bank.example', false],
  ['url', 'Log in at https://www.bank.example/a.', 'bank.example', true],
  ['url', 'Log in at bank.example.', 'https://www.bank.example:8443/x?y=z', true],
  ['url', 'Clone git@code.example:a/b', 'git@code.example:a/c', true],
  ['url', 'Write to bob@code.example', 'https://code.example/', false],
  ['url', 'The bank, example one', 'https://bank.example/', false],
  ['recipient', 'Mail alice@corp.example', 'alice@corp.example.evil.example', false],
  ['recipient', 'Mail alice@corp.example.org', 'alice@corp.example', false],
  ['recipient', 'Mail x.alice@corp.example', 'alice@corp.example', false],
  ['recipient', "Mail o'alice@corp.example", 'alice@corp.example', false],
  ['recipient', 'Mail alice.corp.example', 'alice@corp.example', false],
  ['recipient', "Mail 'alice@corp.example', please", 'Alice <alice@corp.example>', true],
  ['recipient', 'Tell evil@x.example', 'alice@corp.example <evil@x.example>', true],
  ['recipient', 'Tell alice@corp.example', 'alice@corp.example <evil@x.example>', false],
  ['recipient', "Use Anna Krause's address", 'Anna Krause', true],
  ['account', 'Pay 12-3456-789', '3456', false],
  ['account', 'Pay DE89 3704 0044', 'DE89 3704 0044', true],
] as const)
  test(`[A39] ${role} ${value} is ${isUser ? '' : 'not '}from "${typed}"`, () =>
    assert.equal(label(role, value, { type: 'user', text: typed }) === 'user', isUser));

test('[A39] a part of a trusted field is not trusted: others can put an address into a longer name', () => {
  const trusted = (text: string, isText = false): FlowEntry => ({ type: 'trusted', text, isText });
  assert.equal(label('recipient', 'eve@evil.example', trusted('Support eve@evil.example')), 'unknown');
  assert.equal(label('recipient', 'eve@evil.example', trusted('docs/eve@evil.example/a.md')), 'unknown');
  assert.equal(label('account', 'GB33', trusted('Rent (GB33)')), 'unknown');
  assert.equal(label('url', 'https://evil.example', trusted('https://shop.example/?next=evil.example')), 'unknown');
  assert.equal(label('url', 'https://shop.example/b', trusted('https://shop.example/a')), 'trusted');
  assert.equal(label('recipient', 'Bob <bob@corp.example>', trusted('bob@corp.example')), 'trusted');
  assert.equal(label('account', 'GB33', trusted('The account is GB33.', true)), 'trusted');
});

test('[A39] hostile text is split in linear time', () => {
  for (const part of ['a.', '@', "a'", 'www.', '<', 'a@', '-', '//', 'é+'])
    for (const text of [part.repeat(100_000), `https://${part.repeat(100_000)}`]) {
      splitRuns(text);
      hostOf(text);
      label('recipient', text.slice(0, 100_000), { type: 'user', text });
    }
});
