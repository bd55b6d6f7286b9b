// The `policy` command: checks that a policy is valid, shows what it would have decided in a past session, and shows declarations and decisions of the flow policy.
import { homedir } from 'node:os';
import { parseArgs } from 'node:util';
import { escapeInvisibleLine } from '../../core/index.ts';
import { readPolicy, type Policy } from '../../guards/index.ts';
import { readAgentPolicy } from '../../coding-agent/index.ts';
import type { Command } from '../args/command.ts';
import { formatToolInput, findSession, readSession } from '../../sessions/index.ts';
import { withUsage } from '../args/with-usage.ts';
import { printAndReturn, printErr } from '../args/stdio.ts';
import { readSettings } from '../../coding-agent/settings/index.ts';
import { getSessionDirectory, simulatePolicy, type SimulatedDecision } from '../../evals/index.ts';

const usage = `Usage: fairlead policy check [file]
       fairlead policy try <session> [--policy <file>] [--json]
       fairlead policy declare [tool] [--set <key>=<value>]... [--reset] [--json]
       fairlead policy explain <session> [call] [--json]`;

/** Checks or simulates a policy; exit code 0 done, 1 the policy is invalid, 2 invalid arguments. */
export const run: Command['run'] = async (args) => {
  if (args[0] === 'declare') return (await import('./policy/declare.ts')).declareCommand(args.slice(1));
  if (args[0] === 'explain') return (await import('./policy/explain.ts')).explainCommand(args.slice(1));
  const options = {
    policy: { type: 'string' },
    json: { type: 'boolean' },
    help: { type: 'boolean', short: 'h' },
  } as const;
  return withUsage(usage, async () => {
    const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
    const [verb, arg, ...more] = positionals;
    if (values.help) return printAndReturn(usage, 0);
    if (more.length === 0 && verb === 'check') return await checkPolicy(arg);
    if (more.length === 0 && verb === 'try' && arg !== undefined)
      return await simulateOnSession(arg, values.policy, values.json === true);
    printErr(`${usage}\n`);
    return 2;
  });
};

/** Reads the policy of a file, or the policies that apply in a directory. */
async function resolvePolicy(file: string | undefined, cwd: string): Promise<Policy | undefined> {
  const paths = { cwd, home: homedir() };
  return file === undefined ? readAgentPolicy({ cwd, config: readSettings().dirs.config }) : readPolicy(file, paths);
}

async function checkPolicy(file: string | undefined): Promise<number> {
  const policy = await resolvePolicy(file, process.cwd());
  if (!policy)
    return printAndReturn(
      `There is no policy: every change needs approval. Your policy file would be ${readSettings().dirs.config}/policy.yaml.`,
      0,
    );
  const count = (effect: string): number => policy.rules.filter((rule) => rule.effect === effect).length;
  const examples = policy.rules.flatMap(({ match, noMatch }) => [...match, ...noMatch]).length;
  const warning = policy.dangerouslyAllowUnknown
    ? '\nWarning: dangerouslyAllowUnknown is set, so a command that hides what a rule forbids is not asked about.'
    : '';
  return printAndReturn(
    `The policy is valid: ${count('allow')} allow, ${count('ask')} ask, ${count('deny')} deny; ${examples} examples hold.${warning}`,
    0,
  );
}

async function simulateOnSession(name: string, file: string | undefined, json: boolean): Promise<number> {
  const session = await readSession(findSession(readSettings().dirs, name).file);
  const policy = (await resolvePolicy(file, getSessionDirectory(session.state))) ?? { rules: [] };
  const decisions = await simulatePolicy(policy, session);
  if (json) return printAndReturn(JSON.stringify(decisions, undefined, 2), 0);
  const count = (outcome: SimulatedDecision['outcome']): string =>
    `${decisions.filter((decision) => decision.outcome === outcome).length} ${outcome}`;
  return printAndReturn(
    [...decisions.map(formatSimulatedCall), `${count('allowed')}, ${count('asked')}, ${count('denied')}`].join('\n'),
    0,
  );
}

const formatSimulatedCall = ({ tool, input, outcome, why }: SimulatedDecision): string =>
  `${outcome.padEnd(8)} ${escapeInvisibleLine(tool)} ${formatToolInput(input)}${why.length ? `  (${escapeInvisibleLine(why.join(' '))})` : ''}`;
