// The `policy` command: proves that a policy is clear, and shows what it would have decided in a session of the past.
import { homedir } from 'node:os';
import { parseArgs } from 'node:util';
import { escapeInvisibleLine } from '../../core/index.ts';
import { readPolicies, readPolicy, type Policy } from '../../guards/index.ts';
import type { Command } from '../args/command.ts';
import { formatToolInput } from '../../sessions/index.ts';
import { withUsage } from '../args/with-usage.ts';
import { printErr } from '../args/stdio.ts';
import { findSession, readSession } from '../../sessions/index.ts';
import { readSettings } from '../../coding-agent/settings/settings.ts';
import { getSessionDirectory, simulatePolicy, type SimulatedDecision } from '../../evals/simulate-policy.ts';

const usage = `Usage: fairlead policy check [file]
       fairlead policy try <session> [--policy <file>] [--json]`;

/** Checks or tries a policy: 0 done, 1 the policy is not clear, 2 misused. */
export const run: Command['run'] = async (args) => {
  const options = {
    policy: { type: 'string' },
    json: { type: 'boolean' },
    help: { type: 'boolean', short: 'h' },
  } as const;
  return withUsage(usage, async () => {
    const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
    const [verb, word, ...more] = positionals;
    if (values.help) return printAndReturn(usage, 0);
    if (more.length === 0 && verb === 'check') return await checkPolicy(word);
    if (more.length === 0 && verb === 'try' && word !== undefined)
      return await simulateOnSession(word, values.policy, values.json === true);
    printErr(`${usage}\n`);
    return 2;
  });
};

function printAndReturn(text: string, code: number): number {
  process.stdout.write(`${text}\n`);
  return code;
}

/** The policy of a file, or the one that counts in a folder. */
async function resolvePolicy(file: string | undefined, cwd: string): Promise<Policy | undefined> {
  const place = { cwd, home: homedir() };
  return file === undefined ? readPolicies({ ...place, config: readSettings().dirs.config }) : readPolicy(file, place);
}

async function checkPolicy(file: string | undefined): Promise<number> {
  const policy = await resolvePolicy(file, process.cwd());
  if (!policy)
    return printAndReturn(
      `There is no policy: every change is asked about. Yours would be ${readSettings().dirs.config}/policy.yaml.`,
      0,
    );
  const count = (effect: string): number => policy.rules.filter((rule) => rule.effect === effect).length;
  const examples = policy.rules.flatMap(({ match, noMatch }) => [...match, ...noMatch]).length;
  return printAndReturn(
    `The policy is clear: ${count('allow')} allow, ${count('ask')} ask, ${count('deny')} deny; ${examples} examples hold.`,
    0,
  );
}

async function simulateOnSession(name: string, file: string | undefined, json: boolean): Promise<number> {
  const session = await readSession(findSession(readSettings().dirs, name).file);
  const policy = (await resolvePolicy(file, getSessionDirectory(session.state))) ?? { rules: [] };
  const tried = await simulatePolicy(policy, session);
  if (json) return printAndReturn(JSON.stringify(tried, undefined, 2), 0);
  const count = (outcome: SimulatedDecision['outcome']): string =>
    `${tried.filter((each) => each.outcome === outcome).length} ${outcome}`;
  return printAndReturn(
    [...tried.map(formatSimulatedCall), `${count('allowed')}, ${count('asked')}, ${count('denied')}`].join('\n'),
    0,
  );
}

const formatSimulatedCall = ({ tool, input, outcome, why }: SimulatedDecision): string =>
  `${outcome.padEnd(8)} ${escapeInvisibleLine(tool)} ${formatToolInput(input)}${why.length ? `  (${escapeInvisibleLine(why.join(' '))})` : ''}`;
