// Answers a question with three drafts and returns the one that models of other families agree with, or abstains. All models are scripted.
import assert from 'node:assert/strict';
import { answerQuestion, type VerifyModel } from 'fairlead/checks';

const drafts = ['Sydney is the capital of Australia.', 'Canberra is the capital of Australia.'];
const author: VerifyModel = {
  name: 'anthropic/claude-opus-4.8',
  family: 'claude',
  ask: async () => ({ text: drafts.shift() ?? 'Canberra is the capital of Australia.', spent: { usd: 0.001 } }),
};
const fact = 'Canberra is the capital of Australia.';
const createPeer = (name: string, family: string): VerifyModel => ({
  name,
  family,
  async ask({ system, prompt }) {
    const spent = { usd: 0.001 };
    if (!system.startsWith('You verify claims.')) return { text: fact, spent };
    const [, id = ''] = /^Claim (\S+),/m.exec(prompt) ?? [];
    const verdict = prompt.includes('Sydney') ? 'contradicted' : 'supported';
    return {
      text: JSON.stringify({ verdicts: [{ id, verdict, passage: 1, quotation: fact, why: 'So I answered.' }] }),
      spent,
    };
  },
});

const report = await answerQuestion({
  question: 'What is the capital of Australia?',
  author,
  judges: [createPeer('openai/gpt-5', 'gpt'), createPeer('google/gemini-3-pro', 'gemini')],
  drafts: 3,
});
console.log(report.outcome, report.answer, report.claims[0]?.verdict.why);
assert.deepEqual([report.outcome, report.verifiedText], ['verified', fact]);
assert.equal(report.drafts[0]?.outcome, 'abstained');
