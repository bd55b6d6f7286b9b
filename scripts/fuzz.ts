// Runs a fuzzer of the policy: npm run fuzz -- shell --cases 10000 --seed 1 --execute 2000.
import { parseArgs } from 'node:util';
import { formatFuzzReport, runFuzzer, type Fuzzer } from './fuzz/fuzz-run.ts';
import { hostFuzzer } from './fuzz/host-fuzzer.ts';
import { optionFuzzer } from './fuzz/option-fuzzer.ts';
import { shellFuzzer } from './fuzz/shell-fuzzer.ts';
import { strictFuzzer } from './fuzz/strict-fuzzer.ts';

const fuzzers: readonly Fuzzer[] = [shellFuzzer, hostFuzzer, optionFuzzer, strictFuzzer];

const { values, positionals } = parseArgs({
  options: {
    cases: { type: 'string', default: '10000' },
    seed: { type: 'string', default: '1' },
    execute: { type: 'string', default: '2000' },
  },
  allowPositionals: true,
});
const selected = fuzzers.filter(({ name }) => positionals.length === 0 || positionals.includes(name));
const [cases, seed, maxExecuted] = [values.cases, values.seed, values.execute].map(Number);
if (selected.length === 0 || ![cases, seed, maxExecuted].every((each) => Number.isSafeInteger(each))) {
  console.error(`Usage: npm run fuzz -- [${fuzzers.map(({ name }) => name).join('|')}] --cases N --seed S --execute N`);
  process.exit(2);
}
for (const fuzzer of selected) {
  const reason = fuzzer.unavailable();
  if (reason !== false) {
    console.log(`${fuzzer.name}: skipped, ${reason}`);
    continue;
  }
  const progress = (judged: number, allowed: number): void =>
    console.error(`${fuzzer.name}: ${judged} judged, ${allowed} allowed`);
  const report = await runFuzzer(fuzzer, {
    cases: cases ?? 0,
    seed: seed ?? 0,
    maxExecuted: maxExecuted ?? 0,
    progress,
  });
  console.log(formatFuzzReport(report));
  if (report.hits.length > 0) process.exitCode = 1;
}
