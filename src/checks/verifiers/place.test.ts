// Tests of the place of evidence in its document, and of the parts of a text that it does not assert.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findFrame } from '../judges/framing.ts';
import type { ClaimVerdict, Evidence, VerifyContext } from '../types.ts';
import { findWhole } from './place.ts';
import { findQuotedParts } from './quoted-parts.ts';
import { verbatimVerifier } from './verbatim.ts';

const sentence = 'The rover listens on port 9090.';
const source = { type: 'document', path: 'a.md', lines: [9, 9], hash: 'h' } as const;

/** The sentence as a passage of a document. */
function passageOf(text: string, title?: string): Evidence {
  const whole: Evidence = { source: { ...source, lines: [1, 20] }, text };
  const start = text.indexOf(sentence);
  return { source, text: sentence, within: () => ({ whole, start, ...(title === undefined ? {} : { title }) }) };
}

const verify = (...evidence: readonly Evidence[]): ClaimVerdict | undefined => {
  const context: VerifyContext = { answer: sentence, evidence, signal: new AbortController().signal };
  const claim = { id: 'c1', text: sentence, span: { start: 0, end: sentence.length } };
  return verbatimVerifier.verify(claim, context) as ClaimVerdict | undefined;
};

test('[A35] a passage supports a sentence only with the document around it, and only if that is the document of the passage', () => {
  const whole = passageOf(`# Rover\n\nIt is red.\n\n${sentence}\n`);
  assert.equal(verify(whole)?.type, 'supported');
  assert.equal(verify({ source, text: sentence }), undefined, 'the document is not known');
  const elsewhere = { whole: { source, text: `# Rover\n\n${sentence}\n` }, start: 3 };
  assert.equal(verify({ source, text: sentence, within: () => elsewhere }), undefined, 'another text is at the place');
  assert.equal(verify(passageOf(`# Rover\n\n${sentence}\n`, 'Myths about rovers')), undefined, 'the title of the page');
  assert.equal(
    findWhole({ ...whole, source: { ...source, path: 'docs/archive/a.md' } }, { start: 0, end: 5 }),
    undefined,
  );
  assert.equal(
    verify(passageOf(`# Rover\n\n${sentence}\n\n## B\n\nThe rover listens on port 7070.\n`))?.type,
    'unverifiable',
  );
});

test('[A35] the words that a judge quotes are read in their document', () => {
  const span = { start: 0, end: sentence.length };
  assert.equal(findFrame({ text: sentence }, passageOf(`# Rover\n\n${sentence}\n`), span), undefined);
  const far = 'It is red and old. '.repeat(200);
  for (const before of ['## Myths', '<!--', '```', 'Status: superseded', '<del>', 'A visitor wrote "yes.'])
    assert.ok(
      findFrame({ text: sentence }, passageOf(`# Rover\n\n${before}\n\n${far}\n\n${sentence}\n`), span),
      before,
    );
});

test('the parts of a hostile text are found in linear time', () => {
  const hostile = [
    '`',
    '``` ',
    '"',
    '<div hidden>',
    '<a ',
    '<!--',
    '‘',
    '‘a’ ',
    '> ',
    '    x\n\n',
    '/*',
    '\n/* ',
    '~~',
    '\n \t',
    '---\n',
    '- ```\n',
    '# a\n"',
    '<',
  ];
  for (const text of hostile) assert.ok(findQuotedParts(text.repeat(100_000 / text.length)).length >= 0);
});
