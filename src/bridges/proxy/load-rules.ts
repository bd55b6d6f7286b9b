// Loads the rule files of a proxy; throws if one is invalid.
import { readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { loadRuleFile, type Extension, type RuleFile } from '../../agent/index.ts';
import { FairleadError, errorMessage } from '../../core/index.ts';
import { reminderSystemPrompt, compileRuleSet } from '../../rules/index.ts';

/** The rules of a proxy, with the system text about reminders if there are any. */
export type ProxyRules = { readonly extensions: readonly Extension[]; readonly system?: string };

/** Loads a rule file, or all rule files of a directory. */
export async function loadProxyRules(place: string): Promise<ProxyRules> {
  const files: RuleFile[] = [];
  for (const file of listRuleFiles(place)) {
    const loaded = await loadRuleFile(file).catch((error: unknown) => {
      throw proxyRulesError(file, errorMessage(error));
    });
    files.push(loaded);
  }
  if (files.length === 0) throw proxyRulesError(place, 'there are no rules in it');
  const reminds = files.some(({ set }) => (set.reminders ?? []).length > 0);
  return {
    extensions: files.map(({ set }) => compileRuleSet(set)),
    ...(reminds ? { system: reminderSystemPrompt } : {}),
  };
}

function listRuleFiles(place: string): readonly string[] {
  try {
    if (!statSync(place).isDirectory()) return [path.resolve(place)];
    return readdirSync(place)
      .filter((name) => /^[^_.].*\.(?:m?[jt]s|ya?ml|json)$/.test(name) && !/\.(?:test|d)\.m?[jt]s$/.test(name))
      .toSorted()
      .map((name) => path.resolve(place, name));
  } catch (error) {
    throw proxyRulesError(place, errorMessage(error));
  }
}

const proxyRulesError = (place: string, why: string): FairleadError =>
  new FairleadError('proxy/no-rules', `The rules at ${place} cannot be used: ${why.replace(/\.$/, '')}.`, {
    blame: 'user',
    hint: 'A proxy without its rules would let everything pass, so it is not opened.',
  });
