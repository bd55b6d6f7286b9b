// The `policy` command: proves that a policy is clear, and shows what it would have decided in a session of the past.
import { homedir } from 'node:os';
import { parseArgs } from 'node:util';
import { escapeInvisibleLine } from '../../core/index.ts';
import { readPolicies, readPolicy, type Policy } from '../../guards/index.ts';
import type { Command } from '../commands.ts';
import { inputLine } from '../face/wording.ts';
import { orUsage } from '../front/or-usage.ts';
import { tell } from '../front/print.ts';
import { findSession, readSession } from '../sessions/index.ts';
import { readSettings } from '../settings/settings.ts';
import { folderOf, tryPolicy, type Tried } from './trial.ts';

const usage = `Usage: fairlead policy check [file]
       fairlead policy try <session> [--policy <file>] [--json]`;

/** Checks or tries a policy: 0 done, 1 the policy is not clear, 2 misused. */
export const run: Command['run'] = async (args) => {
  const options = {
    policy: { type: 'string' },
    json: { type: 'boolean' },
    help: { type: 'boolean', short: 'h' },
  } as const;
  return orUsage(usage, async () => {
    const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
    const [verb, word, ...more] = positionals;
    if (values.help) return say(usage, 0);
    if (more.length === 0 && verb === 'check') return await check(word);
    if (more.length === 0 && verb === 'try' && word !== undefined)
      return await trial(word, values.policy, values.json === true);
    tell(`${usage}\n`);
    return 2;
  });
};

function say(text: string, code: number): number {
  process.stdout.write(`${text}\n`);
  return code;
}

/** The policy of a file, or the one that counts in a folder. */
async function policyFor(file: string | undefined, cwd: string): Promise<Policy | undefined> {
  const place = { cwd, home: homedir() };
  return file === undefined ? readPolicies({ ...place, config: readSettings().dirs.config }) : readPolicy(file, place);
}

async function check(file: string | undefined): Promise<number> {
  const policy = await policyFor(file, process.cwd());
  if (!policy)
    return say(
      `There is no policy: every change is asked about. Yours would be ${readSettings().dirs.config}/policy.yaml.`,
      0,
    );
  const count = (effect: string): number => policy.rules.filter((rule) => rule.effect === effect).length;
  const examples = policy.rules.flatMap(({ match, noMatch }) => [...match, ...noMatch]).length;
  return say(
    `The policy is clear: ${count('allow')} allow, ${count('ask')} ask, ${count('deny')} deny; ${examples} examples hold.`,
    0,
  );
}

async function trial(name: string, file: string | undefined, json: boolean): Promise<number> {
  const session = await readSession(findSession(readSettings().dirs, name).file);
  const policy = (await policyFor(file, folderOf(session.state))) ?? { rules: [] };
  const tried = await tryPolicy(policy, session);
  if (json) return say(JSON.stringify(tried, undefined, 2), 0);
  const count = (outcome: Tried['outcome']): string =>
    `${tried.filter((each) => each.outcome === outcome).length} ${outcome}`;
  return say([...tried.map(lineOf), `${count('allowed')}, ${count('asked')}, ${count('denied')}`].join('\n'), 0);
}

const lineOf = ({ tool, input, outcome, why }: Tried): string =>
  `${outcome.padEnd(8)} ${escapeInvisibleLine(tool)} ${inputLine(input)}${why.length ? `  (${escapeInvisibleLine(why.join(' '))})` : ''}`;
