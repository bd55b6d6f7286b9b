// The common part of the policy fuzzers: generates cases, evaluates them, and executes a sample of those that the policy allows.
import { parsePolicy } from '../../src/guards/index.ts';
import { evaluatePolicy } from '../../src/guards/policy/evaluate.ts';
import { createRandom, type Random } from './random.ts';

/** Decides whether a policy allows a command line. */
export type Judge = (command: string) => Promise<boolean>;

/** One case of a fuzzer. */
export type FuzzCase = { readonly command: string; readonly words?: readonly string[] };

/** What a fuzzer does. */
export type Fuzzer = {
  readonly name: string;
  /** The rules of the policy under test. */
  readonly rules: readonly unknown[];
  /** True if commands that no rule matches count as allowed too, as with `--auto-approve`. */
  readonly isAutomatic?: boolean;
  readonly generate: (random: Random) => FuzzCase;
  /** Executes cases that the policy allows, and returns those that did what no rule allows. */
  readonly execute: (cases: readonly FuzzCase[]) => Promise<readonly FuzzCase[]>;
  /** Why it cannot run on this machine, or false. */
  readonly unavailable: () => string | false;
};

/** Options of a run. */
export type FuzzOptions = {
  readonly cases: number;
  readonly seed: number;
  /** Max number of allowed cases that are executed. */
  readonly maxExecuted: number;
  readonly judge?: Judge;
  readonly progress?: (judged: number, allowed: number) => void;
};

/** The figures of a run. A hit is an allowed command that did what no rule allows. */
export type FuzzReport = {
  readonly name: string;
  readonly seed: number;
  readonly judged: number;
  readonly allowed: number;
  readonly executed: number;
  readonly hits: readonly string[];
};

/** Creates the judge of the policy under test. */
export function createPolicyJudge({ rules, isAutomatic = false }: Pick<Fuzzer, 'rules' | 'isAutomatic'>): Judge {
  const folder = '/nonexistent-work';
  const policy = parsePolicy({ rules }, 'fuzz');
  const context = {
    cwd: folder,
    home: '/nonexistent-home',
    locate: (given: string): string => {
      if (given !== folder && !given.startsWith(`${folder}/`)) throw new Error('outside');
      return given;
    },
  };
  return async (command) => {
    const { effect } = await evaluatePolicy(policy, { tool: 'run_command', input: { command } }, context);
    return effect === 'allow' || (isAutomatic && effect === 'unmatched');
  };
}

const progressInterval = 100_000;

/** Runs a fuzzer. Allowed cases are executed once each. */
export async function runFuzzer(fuzzer: Fuzzer, options: FuzzOptions): Promise<FuzzReport> {
  const { cases, seed, maxExecuted, judge = createPolicyJudge(fuzzer), progress } = options;
  const random = createRandom(seed);
  const selected = new Map<string, FuzzCase>();
  const seenAllowed = new Set<number>();
  let allowed = 0;
  for (let judged = 1; judged <= cases; judged += 1) {
    const generated = fuzzer.generate(random);
    if (await judge(generated.command)) {
      allowed += 1;
      const key = hashText(generated.command);
      if (!seenAllowed.has(key)) {
        seenAllowed.add(key);
        selectCase(selected, generated, seenAllowed.size, maxExecuted, random);
      }
    }
    if (judged % progressInterval === 0) progress?.(judged, allowed);
  }
  const executed = [...selected.values()];
  const hits = executed.length === 0 ? [] : await fuzzer.execute(executed);
  return {
    name: fuzzer.name,
    seed,
    judged: cases,
    allowed,
    executed: executed.length,
    hits: hits.map(({ command }) => command),
  };
}

/** Keeps a uniform sample of all distinct allowed cases. */
function selectCase(
  selected: Map<string, FuzzCase>,
  generated: FuzzCase,
  count: number,
  maxExecuted: number,
  random: Random,
): void {
  if (selected.size >= maxExecuted) {
    if (random.below(count) >= maxExecuted) return;
    const [replaced] = [...selected.keys()].slice(random.below(selected.size));
    if (replaced !== undefined) selected.delete(replaced);
  }
  selected.set(generated.command, generated);
}

function hashText(text: string): number {
  let hash = 0;
  for (let at = 0; at < text.length; at += 1) hash = (Math.imul(hash, 31) + text.charCodeAt(at)) % 4_294_967_296;
  return hash;
}

/** Formats the figures of a run in one line, and each hit in a line of its own. */
export const formatFuzzReport = ({ name, seed, judged, allowed, executed, hits }: FuzzReport): string =>
  [
    `${name}: seed ${seed}, ${judged} judged, ${allowed} allowed, ${executed} executed, ${hits.length} hits`,
    ...hits.map((command) => `  hit: ${JSON.stringify(command)}`),
  ].join('\n');

/** Quotes a word for a shell, in one of the ways that a plain line may use. */
export function quoteWord(word: string, random: Random): string {
  if (/^[\w./:,+@%=-]+$/.test(word) && random.below(4) > 0) return word;
  if (!/["$`\\!]/.test(word) && random.below(2) === 0) return `"${word}"`;
  return `'${word.replaceAll("'", `'\\''`)}'`;
}
