// Rules for the agent: the usual reminders, the person's own rule files, and the folder's once approved.
import { askWhenRulesMissing, loadRuleFiles, mergeExtensions, ruleDirs, type RuleFiles } from '../../agent/index.ts';
import type { CompiledRuleSet, RuleSet } from '../../rules/index.ts';
import { reminderSystemPrompt, reminderIntroKey } from '../../rules/reminders/awareness.ts';
import { compileRuleSet } from '../../rules/sets/rule-set.ts';
import type { Settings } from '../settings/index.ts';
import { nothing, type Equipment, type Ground } from './ground.ts';
import { usualRules } from './usual-rules.ts';

/** The rule files of a working folder. A folder's are put to the person with their whole text, once for each content. */
export function ruleFilesFor({
  places,
  trust,
  person,
}: Pick<Ground, 'places' | 'trust' | 'person'>): Promise<RuleFiles> {
  return loadRuleFiles(ruleDirs(places), {
    trust,
    unattended: person.absent === true,
    ask: ({ path, text, status: standing }) => {
      const since = standing === 'changed' ? ' They changed since you allowed them.' : '';
      return person.agrees(
        `Use the rules that this folder brings along, ${path}? Code in them runs as you.${since}`,
        text,
      );
    },
  });
}

/** The parts that these rules give an agent beside the usual ones, and whether the model is told of reminders from the beginning. */
export function rulePartsFor(
  settings: Settings,
  sets: readonly RuleSet[],
): { readonly parts: readonly CompiledRuleSet[]; readonly isAware: boolean } {
  const { set, chosen } = usualRules(settings);
  const isAware = chosen || sets.some(({ reminders = [] }) => reminders.length > 0);
  const usual = compileRuleSet(set);
  return { parts: [isAware ? usual : unannounced(usual), ...sets.map(compileRuleSet)], isAware };
}

/** Rules for the agent. A file of the person's own that cannot be loaded is never silently absent: what it might have stopped is asked about. */
export async function ruleEquipment(ground: Ground): Promise<Equipment> {
  const { files, problems, unusable: lost } = await ruleFilesFor(ground);
  const { parts, isAware } = rulePartsFor(
    ground.settings,
    files.map(({ set }) => set),
  );
  return {
    ...nothing,
    problems: [
      ...problems.map(({ path, why }) => `${path}: ${why}`),
      ...lost.map(({ path }) => `Until ${path} is mended, every call is asked about.`),
    ],
    extension: mergeExtensions([...parts, ...(lost.length ? [{ gates: [askWhenRulesMissing(lost)] }] : [])]),
    ...(isAware ? { system: reminderSystemPrompt } : {}),
  };
}

/** The same rules without the note that introduces them. */
const unannounced = (parts: CompiledRuleSet): CompiledRuleSet => ({
  ...parts,
  rules: parts.rules.map((rule) => (event, state) => rule(event, state).filter(({ key }) => key !== reminderIntroKey)),
});
