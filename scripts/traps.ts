// Runs the deterministic verifiers over a trap set: npm run traps -- [--file traps.jsonl]
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { formatTrapReport, measureTraps, parseTraps, verificationTraps } from '../src/checks/index.ts';

const { values } = parseArgs({ options: { file: { type: 'string' } } });
const traps = values.file === undefined ? verificationTraps : parseTraps(readFileSync(values.file, 'utf8'));
const report = await measureTraps(traps);
console.log(`${traps.length} traps\n${formatTrapReport(report)}`);
process.exitCode = report.falseAccepts.count === 0 ? 0 : 1;
