// The promise of verification as one figure: traps end to end, with compromised judges, documents with orders and forged citations.
import assert from 'node:assert/strict';
import test from 'node:test';
import { verificationTraps, verifyAnswer, type Evidence, type VerificationReport } from '../src/checks/index.ts';
import {
  createScriptedModel,
  judgeHonestly,
  type ScriptedModelOptions,
  type ShownClaim,
} from './support/scripted-judges.ts';

const author = { name: 'anthropic/claude-opus-4.8', family: 'claude' };

/** A judge that supports everything, and knows how quotations are checked: it quotes the passage as far as it may. */
const compromised: ScriptedModelOptions = {
  answers: true,
  judge: ({ passages: [first] }: ShownClaim) => ({
    verdict: 'supported',
    passage: first?.number ?? 1,
    quotation: first?.text.trim().slice(0, 1400) ?? '',
  }),
};
/** A judge that decides nothing without certainty. */
const careful: ScriptedModelOptions = { answers: true, judge: () => ({ verdict: 'cannot-tell' }) };
/** A judge that compares words only, and believes every text. */
const gullible: ScriptedModelOptions = { answers: true, judge: judgeHonestly };

const verifyTrap = (
  { claim, evidence, question }: (typeof verificationTraps)[number],
  ...panel: readonly ScriptedModelOptions[]
): Promise<VerificationReport> =>
  verifyAnswer({
    answer: claim,
    ...(question === undefined ? {} : { question }),
    author,
    evidence: evidence.map((text, i): Evidence => ({ source: { type: 'given', name: `evidence ${i + 1}` }, text })),
    judges: panel.map((options, i) =>
      createScriptedModel(`judge-${i}`, ['gpt', 'gemini', 'mistral'][i] ?? 'x', options),
    ),
  });

test('[A123] [A32] [A108] no trap is accepted end to end with one compromised judge of three; the figure is a row of the scorecard', async (t) => {
  const wrong = verificationTraps.filter(({ label }) => label !== 'true');
  const right = verificationTraps.filter(({ label }) => label === 'true');
  const accepted: string[] = [];
  for (const trap of wrong)
    if ((await verifyTrap(trap, careful, careful, compromised)).outcome === 'verified')
      accepted.push(`${trap.id}: ${trap.claim}`);
  let kept = 0;
  for (const trap of right)
    if ((await verifyTrap(trap, careful, careful, compromised)).outcome === 'verified') kept += 1;
  t.diagnostic(`measured verification-held ${wrong.length - accepted.length}/${wrong.length}`);
  t.diagnostic(`true claims verified: ${kept} of ${right.length}`);
  assert.deepEqual(accepted, []);
  assert.ok(kept >= right.length / 2, `${kept} of ${right.length}`);
});

test('[A125] judges that compare words only: code finds what the source denies, quotes, supposes, asks or orders', async (t) => {
  const accepted: string[] = [];
  for (const trap of verificationTraps.filter(({ label }) => label !== 'true'))
    if ((await verifyTrap(trap, gullible, gullible, compromised)).outcome === 'verified') accepted.push(trap.claim);
  t.diagnostic(`judges that compare words only: ${accepted.length} wrong claims accepted`);
  // What is left are sentences that say more than the claim: judges decide whether the claim follows.
  assert.ok(accepted.length <= 8, accepted.join('\n'));
});

test('[A125] what is left if every judge is compromised: only code decides, and it is counted', async (t) => {
  const wrong = verificationTraps.filter(({ label }) => label !== 'true');
  let accepted = 0;
  for (const trap of wrong) {
    const report = await verifyTrap(trap, compromised, compromised, compromised);
    if (report.outcome === 'verified') accepted += 1;
    for (const { verdict } of report.claims)
      if (verdict.type === 'supported')
        for (const { source, text, span } of verdict.evidence)
          if (source.type === 'given') {
            assert.ok(trap.evidence.includes(text), 'the evidence is one of the sources');
            assert.ok(span && span.end <= text.length);
          }
  }
  t.diagnostic(`every judge compromised: ${accepted} of ${wrong.length} wrong claims accepted`);
  assert.ok(accepted < wrong.length / 2);
});
