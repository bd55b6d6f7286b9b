// Differential fuzzers of the policy: what it allows is executed by real bash, curl and other programs, and must do nothing that no rule allows.
import assert from 'node:assert/strict';
import test from 'node:test';
import { formatFuzzReport, runFuzzer, type Fuzzer } from '../scripts/fuzz/fuzz-run.ts';
import { hostFuzzer } from '../scripts/fuzz/host-fuzzer.ts';
import { optionFuzzer } from '../scripts/fuzz/option-fuzzer.ts';
import { shellFuzzer } from '../scripts/fuzz/shell-fuzzer.ts';
import { strictFuzzer } from '../scripts/fuzz/strict-fuzzer.ts';
import { assertAttack } from './support/attack-report.ts';

const seed = 12;
// Enough cases for as many allowed ones as are executed; of the options and the strict rules, a policy allows more.
const cases = (fuzzer: Fuzzer): number =>
  Number(process.env['FAIRLEAD_FUZZ_CASES'] ?? (fuzzer === optionFuzzer || fuzzer === strictFuzzer ? 3000 : 5000));
// Each case starts several processes; `npm run fuzz` executes more.
const maxExecuted = Number(process.env['FAIRLEAD_FUZZ_EXECUTED'] ?? 150);
const fuzzers: readonly (readonly [fuzzer: Fuzzer, attack: number, what: string])[] = [
  [shellFuzzer, 91, 'no command line that a policy allows runs another program in bash'],
  [hostFuzzer, 101, 'no command line that a policy allows for a host makes curl request another host'],
  [optionFuzzer, 109, 'no option that a policy allows makes a program run or write something'],
  [strictFuzzer, 100, 'no command line that is approved automatically runs a program that a rule denies'],
];

for (const [fuzzer, attack, what] of fuzzers) {
  test(`[attack ${attack}] fuzzer ${fuzzer.name}: ${what}`, { skip: fuzzer.unavailable() }, async (t) => {
    const report = await runFuzzer(fuzzer, { cases: cases(fuzzer), seed, maxExecuted });
    t.diagnostic(formatFuzzReport(report));
    assert.ok(report.executed > 100, 'too few cases were allowed for the run to mean anything');
    assert.deepEqual(report.hits, []);
    assertAttack(t, attack, ['blocked'], `${report.judged} judged, ${report.executed} executed`);
  });

  // Options of curl could make it ask a name server.
  test(`fuzzer ${fuzzer.name} finds hits if everything is allowed`, { skip: fuzzer.unavailable() }, async () => {
    const { hits } = await runFuzzer(fuzzer, {
      cases: 60,
      seed,
      maxExecuted: 60,
      judge: async (command) => fuzzer !== hostFuzzer || !/['" ]-/.test(command),
    });
    assert.ok(hits.length > 0);
  });
}
