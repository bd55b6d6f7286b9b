// The text format of a conversation: exact in both directions, with every error reported at its line.
import assert from 'node:assert/strict';
import test from 'node:test';
import * as fc from 'fast-check';
import { historyError, type Message } from '../../core/index.ts';
import { parseConversation, type ParsedConversation } from './parse-conversation.ts';
import { formatConversation } from './format-conversation.ts';

const user = (text: string): Message => ({ role: 'user', parts: [{ type: 'text', text }] });
const answer = (text: string): Message => ({ role: 'assistant', parts: [{ type: 'text', text }] });
const meta = { family: 'anthropic', data: { signature: 'abc' } };

const conversation: readonly Message[] = [
  {
    role: 'user',
    parts: [
      { type: 'text', text: 'Hello' },
      { type: 'file', mediaType: 'image/png', data: 'aGk=', name: 'my cat.png' },
    ],
  },
  {
    role: 'assistant',
    parts: [
      { type: 'reasoning', text: 'Hm.\n\n', meta },
      { type: 'text', text: '# Title\n%% not a heading\n\\%%% neither' },
      { type: 'tool-call', id: 'c1', tool: 'read', input: { path: 'a.ts', lines: [1, 2] }, meta },
      { type: 'tool-call', id: 'c 2', tool: 'write', input: {}, invalid: '{"path": ' },
    ],
  },
  {
    role: 'tool',
    parts: [
      {
        type: 'tool-result',
        id: 'c1',
        tool: 'read',
        text: 'one\r\ntwo',
        failed: false,
        files: [{ type: 'file', mediaType: 'image/png', data: 'aGk=' }],
      },
      { type: 'tool-result', id: 'c 2', tool: 'write', text: 'no', failed: true },
    ],
  },
  answer('Done.'),
];

const read = (text: string, before?: readonly Message[]): readonly Message[] => {
  const out = parseConversation(text, before);
  assert.ok('messages' in out, JSON.stringify(out));
  return out.messages;
};
const mistakes = (out: ParsedConversation): readonly string[] => {
  assert.ok('mistakes' in out, JSON.stringify(out));
  return out.mistakes.map(({ line, message }) => `${line}: ${message}`);
};
const bare = (messages: readonly Message[]): unknown =>
  JSON.parse(JSON.stringify(messages, (key, value: unknown) => (key === 'meta' ? undefined : value)));
const lineOf = (text: string, words: string): number => text.slice(0, text.indexOf(words)).split('\n').length;

test('[J3] [J59] a conversation is readable as text and parses back exactly', () => {
  const text = formatConversation(conversation);
  assert.equal(
    text.slice(text.indexOf('%%% user 1')),
    String.raw`%%% user 1
Hello
%% file 1.2 image/png 4 "my cat.png"

%%% assistant 2
%% reasoning
Hm.


%% text
# Title
\%% not a heading
\\%%% neither
%% call c1 read
{
  "path": "a.ts",
  "lines": [
    1,
    2
  ]
}
%% call "c 2" write
{}
%% invalid
{"path": 

%%% tool 3
%% result c1 read json
"one\r\ntwo"
%% result "c 2" write failed
no

%%% assistant 4
Done.
`,
  );
  assert.deepEqual(read(text, conversation), conversation);
  assert.deepEqual(read(text.replaceAll('\n', '\r\n'), conversation), conversation, 'any line ending of the editor');
});

test('[J3] any valid conversation survives a round trip, with and without the original', () => {
  const words = fc.oneof(
    fc.string(),
    fc.string({ unit: 'binary' }),
    fc
      .array(fc.constantFrom('%%', '%%% user', '%% text', '\\', '\n', '\r', ' ', '#', 'a', '\ud800', '"', '\0'))
      .map((all) => all.join('')),
  );
  const metas = fc.option(fc.constant(meta), { nil: undefined });
  const parts = fc.array(
    fc.oneof(
      fc.record({ type: fc.constant('text' as const), text: words }),
      fc.record({ type: fc.constant('reasoning' as const), text: words, meta: metas }),
    ),
    { minLength: 1, maxLength: 4 },
  );
  const calls = fc.array(
    fc.record({
      tool: words,
      input: fc.jsonValue(),
      invalid: fc.option(words, { nil: undefined }),
      text: words,
      failed: fc.boolean(),
    }),
    { maxLength: 3 },
  );
  const round = fc.record({ said: parts, answered: parts, calls });
  let next = 0;
  const told = (each: typeof round extends fc.Arbitrary<infer R> ? R : never): readonly unknown[] => {
    const made = each.calls.map((call) => ({ ...call, id: `id ${next++}` }));
    const asked = made.map(({ id, tool, input, invalid }) => ({ type: 'tool-call', id, tool, input, invalid }));
    const results = made.map(({ id, tool, text, failed }) => ({ type: 'tool-result', id, tool, text, failed }));
    return [
      { role: 'user', parts: each.said },
      { role: 'assistant', parts: [...each.answered, ...asked] },
      ...(results.length ? [{ role: 'tool', parts: results }, answer('so')] : []),
    ];
  };
  fc.assert(
    fc.property(fc.array(round, { maxLength: 4 }), (rounds) => {
      // Through JSON, as a log keeps it: no undefined, no minus zero.
      const messages = JSON.parse(JSON.stringify(rounds.flatMap(told))) as readonly Message[];
      if (messages.length) assert.equal(historyError(messages), undefined);
      const saved = Buffer.from(formatConversation(messages)).toString();
      assert.deepEqual(read(saved, messages), messages);
      assert.deepEqual(read(saved), bare(messages));
    }),
    { numRuns: 150 },
  );
});

test('[J59] provider metadata stays with unchanged messages, and is removed from changed ones, with a reason', () => {
  const text = formatConversation(conversation);
  const other = parseConversation(text.replace('Done.', 'Not done.'), conversation);
  assert.ok('messages' in other);
  assert.equal(other.messages[1], conversation[1], 'the same message, with its metadata');
  assert.deepEqual(other.dropped, []);
  const changed = parseConversation(text.replace('Hm.', 'Aha.'), conversation);
  assert.ok('messages' in changed);
  assert.ok(!JSON.stringify(changed.messages).includes('signature'));
  assert.deepEqual(changed.dropped, [
    { message: 2, reason: 'Message 2 was changed, so what the provider had attached to it was left out.' },
  ]);
});

test('[J59] messages can be added, removed and moved; an attached file moves with its line', () => {
  const before = [user('a'), answer('b'), user('c'), answer('d')];
  const text = `${formatConversation(before).replace('%%% user 3\nc\n\n%%% assistant 4\nd\n', '')}
%%% user

  indented

%%% assistant
new
`;
  assert.deepEqual(read(text, before), [user('a'), answer('b'), user('  indented'), answer('new')]);
  const file = '%% file 1.2 image/png 4 "my cat.png"\n';
  const moved = read(`${formatConversation(conversation).replace(file, '')}\n%%% user\n${file}`, conversation);
  assert.deepEqual(moved[0], user('Hello'));
  const spaced = formatConversation(conversation).replace('%%% tool 3', '\n\n%%% tool 3');
  assert.deepEqual(read(spaced, conversation), conversation, 'empty lines between messages change nothing');
  assert.deepEqual(moved.at(-1)?.parts, [conversation[0]?.parts[1]]);
});

test('[J59] every error is reported with its line', () => {
  const text = formatConversation(conversation).replace(/^#.*$/gm, '#');
  const at = (words: string, more = 0): number => lineOf(text, words) + more;
  const cases: readonly (readonly [string, string, number, RegExp])[] = [
    ['%%% user 1', '%%% usr 1', at('%%% user 1'), /begins with "%%% user"/],
    ['%%% user 1', '%%% user one', at('%%% user 1'), /the number that the message had/],
    ['%%% user 1', '%%% user 9', at('%%% user 1'), /the number that the message had/],
    ['%%% assistant 4', '%%% assistant 2', at('%%% assistant 4'), /The number 2 is already in line \d+/],
    ['"a.ts"', 'a.ts', at('"a.ts"'), /This is not JSON/],
    ['%% call c1 read', '%% call c1', at('%% call c1'), /A call is headed/],
    ['%% call "c 2" write', '%% call c1 write', at('%% call "c 2"'), /The call id c1 is used in line \d+ already/],
    ['%% result c1 read', '%% result c9 read', at('%% result c1'), /No call with the id c9/],
    ['%% result c1 read json', '%% result c1 read jason', at('%% result c1'), /A result is headed/],
    ['"one\\r\\ntwo"', '"one', at('"one\\r'), /This is not JSON/],
    ['"one\\r\\ntwo"', '1', at('%% result c1'), /one JSON string/],
    ['%% reasoning', '%% resoning', at('%% reasoning'), /begins no kind of part/],
    ['%% reasoning', '%% reasoning "x', at('%% reasoning'), /not closed by a quotation mark/],
    ['image/png 4', 'image/png 5', at('%% file'), /A file cannot be changed here/],
    ['file 1.2', 'file 2.2', at('%% file'), /There is no file 2.2/],
    ['%%% user 1\n', '', at('%%% user 1'), /is before the first message/],
    ['%%% tool 3', '%%% user 3', at('%%% tool 3'), /The calls of message 2 are not answered by message 3/],
    ['%%% assistant 4', '%%% tool', at('%%% assistant 4'), /both of role tool/],
  ];
  for (const [from, to, line, pattern] of cases) {
    assert.ok(text.includes(from), from);
    const found = mistakes(
      parseConversation(
        text.replace(from, () => to),
        conversation,
      ),
    );
    assert.match(found[0] ?? '', pattern, `${from} -> ${to}`);
    assert.equal(Number.parseInt(found[0] ?? ''), line, found.join('\n'));
  }
});

test('[J59] several errors are reported together, in order', () => {
  const text = formatConversation(conversation).replace('"a.ts"', 'a.ts').replace('%%% assistant 4', '%%% assistent 4');
  assert.equal(mistakes(parseConversation(text, conversation)).length, 2);
});
