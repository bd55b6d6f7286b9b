// Tests of the text of a report.
import assert from 'node:assert/strict';
import test from 'node:test';
import { formatReport } from './format-report.ts';
import { verifyAnswer } from './verify-answer.ts';

test('[A35] [A81] without judges the text lists what is contradicted, then what no source has, then the rest once, least likely first', async () => {
  const given = (text: string, name: string) => ({ source: { type: 'given' as const, name }, text });
  const report = await verifyAnswer({
    answer:
      'The tank is full. The pump moves water to the tank. Zebras dance on violet clouds. The pump weighs 77 kg. 2 + 2 = 5.',
    evidence: [
      given('Water is moved by the pump to the tank. It is heavy.', 'pump'),
      given('The tank is full.', 'tank'),
    ],
  });
  const text = formatReport(report);
  const at = [
    'contradicted ',
    'no evidence  The pump weighs',
    'supported    The tank',
    'Not decided without judges: 2.',
    'Zebras dance on',
    'The pump moves',
  ];
  const places = at.map((each) => text.indexOf(each, text.indexOf('Claims: ')));
  assert.ok(
    places.every((place) => place > 0),
    text,
  );
  assert.deepEqual(
    places,
    places.toSorted((a, b) => a - b),
    text,
  );
  assert.match(text, /The pump moves water to the tank\.\n +nearest: pump \(scorer \d+ %\)/);
  assert.equal(text.slice(text.indexOf('Claims: ')).includes('No quorum'), false);
});
