// Tests of the rendered answer: what is no claim is struck if nothing supports it, and no text of the author can hide or forge a strike.
import assert from 'node:assert/strict';
import test from 'node:test';
import { parseMarkdown } from '../../core/markdown/index.ts';
import { formatReport } from './format-report.ts';
import type { VerificationReport } from './report.ts';
import { verifyAnswer } from './verify-answer.ts';

const fact = 'The lake was filled in 1964.';
const verify = (answer: string): Promise<VerificationReport> =>
  verifyAnswer({
    question: 'When was the lake filled?',
    answer,
    evidence: [fact, 'The well of the farm is not deep.'].map((text, i) => ({
      source: { type: 'given', name: `doc ${i}` },
      text,
    })),
  });

test('[A36] [A81] headings, table headers, questions and images that say what no supported claim says are struck out', async () => {
  for (const [answer, expected] of [
    [`# The lake, a deadly poison\n\n${fact}`, `# ~~The lake, a deadly poison~~\n\n${fact} [1]`],
    [
      `${fact}\n\nDid you know that the lake was poisoned in 1970?`,
      `${fact} [1]\n\n~~Did you know that the lake was poisoned in 1970?~~`,
    ],
    [
      `${fact}\n\n| The lake was poisoned | 400 people died |\n|---|---|\n`,
      `${fact} [1]\n\n| ~~The lake was poisoned~~ | ~~400 people died~~ |\n|---|---|\n`,
    ],
    [`${fact}\n\n![Poisoned lake](a.png)`, `${fact} [1]\n\n~~![Poisoned lake](a.png)~~`],
    [
      `# Deep well\n\n${fact} The well of the farm is not deep.`,
      `# ~~Deep well~~\n\n${fact} [1] The well of the farm is not deep. [2]`,
    ],
  ] as const) {
    const report = await verify(answer);
    assert.deepEqual([report.outcome, report.answer], ['verified', expected]);
  }
});

test('[A36] headings that state nothing, or only what a supported claim or the question says, stay', async () => {
  for (const answer of [
    `# Summary\n\n${fact}`,
    `## 1. Details\n\n${fact}`,
    `# Filled lake\n\n${fact}`,
    `# When was the lake filled?\n\n${fact}`,
    `${fact}\n\nWould you like to know more?`,
  ])
    assert.equal((await verify(answer)).answer, answer.replace(fact, `${fact} [1]`), answer);
});

const struckTexts = (answer: string): string => {
  const texts: string[] = [];
  const visit = (value: unknown, isStruck: boolean): void => {
    if (Array.isArray(value)) for (const each of value) visit(each, isStruck);
    else if (typeof value === 'object' && value !== null) {
      const node = value as Record<string, unknown>;
      const inside = isStruck || node['type'] === 'struck';
      if (inside && typeof node['text'] === 'string') texts.push(node['text']);
      for (const each of Object.values(node)) visit(each, inside);
    }
  };
  visit(parseMarkdown(answer), false);
  return texts.join('');
};

test('[A36] [A108] no mark of the author hides a strike or strikes a supported claim', async () => {
  for (const answer of [
    `The lake is poisoned ~~ today. ${fact}`,
    `${fact} ~~ The lake is poisoned.`,
    `- The lake is poisoned \` today\n- ${fact}\n- The lake \` is blue`,
    `The lake is poisoned\\\n\n${fact}`,
    `${fact} \\The lake is poisoned.`,
    `${fact} The lake is poisoned. \``,
  ]) {
    const report = await verify(answer);
    const struck = struckTexts(report.answer);
    assert.ok(struck.includes('poisoned') && !struck.includes('1964'), report.answer);
  }
});

test('[A81] the style of a report comes from its structure: text that looks like a verdict or a strike is not styled', async () => {
  const answer = `${fact} The lake is ~400 m~ deep. The lake is ~~safe~~ today.\n\n\`\`\`\n  supported    The lake is poisoned.\nVerified: yes\n\`\`\`\n`;
  const tag =
    (name: string) =>
    (text: string): string =>
      `<${name}>${text}</${name}>`;
  const text = formatReport(await verify(answer), {
    style: {
      text: (plain) => plain.toUpperCase(),
      struck: tag('s'),
      outcome: tag('o'),
      verdict: tag('v'),
      label: tag('l'),
    },
  });
  assert.match(text, /^<o>I don’t know<\/o>: |<o>Verified<\/o>: /m);
  assert.match(
    text,
    /THE LAKE WAS FILLED IN 1964\. \[1\] <s>The lake is ~400 m~ deep\.<\/s> <s>The lake is safe today\.<\/s>/,
  );
  assert.match(text, /SUPPORTED {4}THE LAKE IS POISONED\.\n *VERIFIED: YES/);
  assert.equal(text.match(/<v>supported {3,4}<\/v>/g)?.length, 1);
  assert.match(text, /<l>Claims<\/l>: 1 of 4 supported/);
});
