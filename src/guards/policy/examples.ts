// Proves that the rules of a policy mean what their writer thinks: each example must fit, or must not, before a rule decides anything.
import path from 'node:path';
import { escapeInvisibleLine } from '../../core/index.ts';
import { actsOf, type Ground } from './acts.ts';
import { covers, touches } from './fitting.ts';
import { bad, type Example, type Policy, type PolicyRule } from './policy.ts';

/** Throws at the first example that does not hold. */
export async function mustHold({ rules }: Policy, place: Pick<Ground, 'cwd' | 'home'>): Promise<void> {
  // Examples are of names, not of files: nothing is looked up.
  const ground: Ground = { ...place, locate: (given) => path.resolve(place.cwd, given) };
  for (const rule of rules)
    for (const [examples, wanted] of [
      [rule.match, true],
      [rule.noMatch, false],
    ] as const)
      for (const example of examples)
        if ((await fits(rule, example, ground)) !== wanted)
          throw bad(
            `${rule.source} ${wanted ? 'does not match' : 'matches'} its example ${escapeInvisibleLine(JSON.stringify(example))}, and ${wanted ? 'must' : 'must not'}.`,
          );
}

async function fits({ effect, on }: PolicyRule, example: Example, ground: Ground): Promise<boolean> {
  const { acts, doubts } = await actsOf(callOf(on, example), ground);
  if (effect !== 'allow') return acts.some((act) => touches(on, act, ground));
  return doubts.length === 0 && acts.length > 0 && acts.every((act) => act.reads === true || covers(on, act, ground));
}

function callOf(on: PolicyRule['on'], example: Example): Exclude<Example, string> {
  if (typeof example !== 'string') return example;
  const tool = on.tool?.find((name) => /^[\w-]+$/.test(name));
  if (on.command) return { tool: tool ?? 'run_command', input: { command: example } };
  if (on.path) return { tool: tool ?? 'write_file', input: { path: example } };
  if (on.host)
    return { tool: tool ?? 'web_fetch', input: { url: example.includes('://') ? example : `https://${example}/` } };
  return { tool: example, input: {} };
}
