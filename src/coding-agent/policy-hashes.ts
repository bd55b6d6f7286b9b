// Hashes of the policies that decide about the calls of an agent, which each run records so that an audit can name them.
import { hash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { canonicalJson, toJson } from '../core/index.ts';
import type { Policy } from '../guards/index.ts';
import { declarationFiles } from './agent-flow.ts';
import type { Settings } from './settings/index.ts';

/** What the policies of an agent are read from. */
export type PolicySources = {
  readonly settings: Pick<Settings, 'flowMode' | 'dirs' | 'all'>;
  readonly cwd: string;
  readonly policy: Policy | undefined;
  /** The hashes of the rule files, in their order. */
  readonly rules: readonly string[];
};

const hashValue = (value: unknown): string => hash('sha256', canonicalJson(toJson(value)));

/** Returns the SHA-256 of each policy that is in force: `policy`, `rules` and `flow`. One that is not in force is absent. */
export async function hashPolicies({
  settings,
  cwd,
  policy,
  rules,
}: PolicySources): Promise<Readonly<Record<string, string>>> {
  const { dirs, flowMode, all } = settings;
  const declarations = declarationFiles(dirs, cwd).some((file) => existsSync(file))
    ? (await import('./flow/declaration-files.ts')).readDeclarationTexts(dirs, cwd)
    : [];
  return {
    ...(policy ? { policy: hashPolicy(policy) } : {}),
    ...(rules.length > 0 ? { rules: hashValue(rules) } : {}),
    ...(flowMode === 'off'
      ? {}
      : { flow: hashValue([flowMode, all.get('detector.threshold')?.value ?? null, ...declarations]) }),
  };
}

/** The hash of the rules as they are evaluated; the place of their files does not count. */
function hashPolicy({ rules, ...policy }: Policy): string {
  return hashValue({ ...policy, rules: rules.map(({ source: _, ...rule }) => rule) });
}
