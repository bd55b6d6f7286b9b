// Loads the rules of the agent: the default reminders, the rule files of the user and, once approved, of the project.
import { askWhenRulesMissing, loadRuleFiles, mergeExtensions, ruleDirs, type RuleFiles } from '../../agent/index.ts';
import type { CompiledRuleSet, RuleSet } from '../../rules/index.ts';
import { reminderSystemPrompt, reminderIntroKey, shortReminderSystemPrompt } from '../../rules/reminders/index.ts';
import { compileRuleSet } from '../../rules/declarative/index.ts';
import type { Settings } from '../settings/index.ts';
import { emptyIntegration, type Integration, type IntegrationContext } from './context.ts';
import { getDefaultRules } from './default-rules.ts';

/** Reads the rule files of a working directory. Asks the user about files of the project, with their full text, once for each content. */
export function readProjectRuleFiles({
  paths,
  trust,
  prompter,
}: Pick<IntegrationContext, 'paths' | 'trust' | 'prompter'>): Promise<RuleFiles> {
  return loadRuleFiles(ruleDirs(paths), {
    trust,
    unattended: prompter.isAbsent === true,
    ask: ({ path, text, status }) => {
      const changed = status === 'changed' ? ' They changed since you allowed them.' : '';
      return prompter.confirm(
        `Trust this project's rules ${path}? Code in them runs with your permissions.${changed}`,
        text,
      );
    },
  });
}

/** Compiles the default rules and these rule sets. `system` is what the system prompt says about reminders: the default ones get the short form, and no note with the nonce. */
export function compileRuleSets(
  settings: Settings,
  sets: readonly RuleSet[],
): { readonly parts: readonly CompiledRuleSet[]; readonly system: string | undefined } {
  const { set, chosen } = getDefaultRules(settings);
  const isChosen = chosen || sets.some(({ reminders = [] }) => reminders.length > 0);
  const defaults = compileRuleSet(set);
  const hasDefaults = (set.reminders ?? []).length > 0;
  return {
    parts: [isChosen ? defaults : withoutIntroduction(defaults), ...sets.map(compileRuleSet)],
    system: isChosen ? reminderSystemPrompt : hasDefaults ? shortReminderSystemPrompt : undefined,
  };
}

/** Loads the rules. While a rule file of the user cannot be loaded, every call needs approval: the file might have denied it. */
export async function loadRules(context: IntegrationContext): Promise<Integration> {
  const { files, problems, unusable } = await readProjectRuleFiles(context);
  const { parts, system } = compileRuleSets(
    context.settings,
    files.map(({ set }) => set),
  );
  return {
    ...emptyIntegration,
    problems: [
      ...problems.map(({ path, why }) => `${path}: ${why}`),
      ...unusable.map(({ path }) => `Until ${path} is fixed, every call needs approval.`),
    ],
    ruleHashes: files.map(({ hash }) => hash),
    extension: mergeExtensions([...parts, ...(unusable.length ? [{ gates: [askWhenRulesMissing(unusable)] }] : [])]),
    ...(system === undefined ? {} : { system }),
  };
}

/** Removes the note that introduces reminders. */
const withoutIntroduction = (parts: CompiledRuleSet): CompiledRuleSet => ({
  ...parts,
  rules: parts.rules.map((rule) => (event, state) => rule(event, state).filter(({ key }) => key !== reminderIntroKey)),
});
