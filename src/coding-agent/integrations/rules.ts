// Rules for the agent: the usual reminders, the person's own rule files, and the folder's once approved.
import { askWhenRulesMissing, loadRuleFiles, mergeExtensions, ruleDirs, type RuleFiles } from '../../agent/index.ts';
import type { CompiledRuleSet, RuleSet } from '../../rules/index.ts';
import { reminderSystemPrompt, reminderIntroKey } from '../../rules/reminders/system-prompt-section.ts';
import { compileRuleSet } from '../../rules/declarative/rule-set.ts';
import type { Settings } from '../settings/index.ts';
import { emptyIntegration, type Integration, type IntegrationContext } from './context.ts';
import { getDefaultRules } from './default-rules.ts';

/** The rule files of a working folder. A folder's are put to the person with their whole text, once for each content. */
export function readProjectRuleFiles({
  paths,
  trust,
  prompter,
}: Pick<IntegrationContext, 'paths' | 'trust' | 'prompter'>): Promise<RuleFiles> {
  return loadRuleFiles(ruleDirs(paths), {
    trust,
    unattended: prompter.isAbsent === true,
    ask: ({ path, text, status }) => {
      const since = status === 'changed' ? ' They changed since you allowed them.' : '';
      return prompter.confirm(
        `Use the rules that this folder brings along, ${path}? Code in them runs as you.${since}`,
        text,
      );
    },
  });
}

/** The parts that these rules give an agent beside the usual ones, and whether the model is told of reminders from the beginning. */
export function compileRuleSets(
  settings: Settings,
  sets: readonly RuleSet[],
): { readonly parts: readonly CompiledRuleSet[]; readonly isAware: boolean } {
  const { set, chosen } = getDefaultRules(settings);
  const isAware = chosen || sets.some(({ reminders = [] }) => reminders.length > 0);
  const usual = compileRuleSet(set);
  return { parts: [isAware ? usual : withoutIntroduction(usual), ...sets.map(compileRuleSet)], isAware };
}

/** Rules for the agent. A file of the person's own that cannot be loaded is never silently absent: what it might have stopped is asked about. */
export async function loadRules(ground: IntegrationContext): Promise<Integration> {
  const { files, problems, unusable } = await readProjectRuleFiles(ground);
  const { parts, isAware } = compileRuleSets(
    ground.settings,
    files.map(({ set }) => set),
  );
  return {
    ...emptyIntegration,
    problems: [
      ...problems.map(({ path, why }) => `${path}: ${why}`),
      ...unusable.map(({ path }) => `Until ${path} is mended, every call is asked about.`),
    ],
    extension: mergeExtensions([...parts, ...(unusable.length ? [{ gates: [askWhenRulesMissing(unusable)] }] : [])]),
    ...(isAware ? { system: reminderSystemPrompt } : {}),
  };
}

/** The same rules without the note that introduces them. */
const withoutIntroduction = (parts: CompiledRuleSet): CompiledRuleSet => ({
  ...parts,
  rules: parts.rules.map((rule) => (event, state) => rule(event, state).filter(({ key }) => key !== reminderIntroKey)),
});
