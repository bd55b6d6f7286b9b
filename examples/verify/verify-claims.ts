// Verifies an answer claim by claim: documents, two judges of other families with scripted answers, citations, struck claims, and an abstention.
import assert from 'node:assert/strict';
import { formatReport, getModelFamily, verifyAnswer, type Evidence, type VerifyModel } from 'fairlead/checks';

// A judge is a function that sends one request. Here it is scripted: it knows two quotations by the text of the claim.
const quotations = [
  { about: 'port', verdict: 'supported', quotation: 'the rover listens on port 8080' },
  { about: 'battery', verdict: 'contradicted', quotation: 'The battery lasts for 14 hours' },
];
const createJudge = (name: string): VerifyModel => ({
  name,
  family: getModelFamily(name),
  async ask({ system, prompt }) {
    const spent = { input: 400, output: 60, usd: 0.002 };
    if (system.startsWith('You decide'))
      return { text: JSON.stringify({ answers: true, why: 'It names the port.' }), spent };
    const verdicts = [...prompt.matchAll(/^Claim (\S+), passages [^]*?<\/outside-text>/gm)].flatMap(([shown, id]) =>
      quotations
        .filter(({ about }) => shown.includes(about))
        .map(({ verdict, quotation }) => ({ id, verdict, passage: 1, quotation, why: 'The guide says so.' })),
    );
    return { text: JSON.stringify({ verdicts }), spent };
  },
});

const evidence: readonly Evidence[] = [
  {
    source: { type: 'given', name: 'guide.md' },
    text: 'After its start the rover listens on port 8080 of every address.\nThe battery lasts for 14 hours.',
  },
];
const question = 'On which port does the rover listen?';
const answer = 'The rover listens on port 8080. The battery lasts for 20 hours.';
const report = await verifyAnswer({
  question,
  answer,
  author: { name: 'anthropic/claude-opus-4.8', family: 'claude' },
  judges: [createJudge('openai/gpt-5'), createJudge('google/gemini-3-pro')],
  evidence,
  budget: { requests: 20, usd: 0.1 },
});
console.log(formatReport(report));
assert.equal(report.outcome, 'verified');
assert.equal(report.answer, 'The rover listens on port 8080. [1] ~~The battery lasts for 20 hours.~~');
assert.equal(report.verifiedText, 'The rover listens on port 8080.');

// The model that wrote an answer does not judge it, nor does a model of its family: without a quorum nothing is verified.
const alone = await verifyAnswer({
  question,
  answer,
  author: { name: 'anthropic/claude-opus-4.8', family: 'claude' },
  judges: [createJudge('anthropic/claude-haiku-4.5'), createJudge('openai/gpt-5')],
  evidence,
});
console.log(alone.outcome, alone.why);
assert.equal(alone.outcome, 'not-verified');
assert.equal(alone.verifiedText, '');
