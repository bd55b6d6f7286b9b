// Former names of the exports of `fairlead/rules`: rule files that were written with them still load.
import { defineGate, type GateRule, type GateRuleOptions } from './gates/gate-rule.ts';
import { fabricatedResult } from './fabricated-result.ts';
import { reminderSystemPrompt } from './reminders/system-prompt-section.ts';
import { compileReminders } from './reminders/compile-reminders.ts';
import { defaultToolRoles } from './reminders/built-in.ts';
import { renderAs } from './rendering/formats.ts';
import { createRenderer } from './rendering/renderers.ts';
import { compileRuleSet } from './declarative/rule-set.ts';
import * as selectors from './session-stats/selectors.ts';
import { sessionStats } from './session-stats/view.ts';
import { answerMatches, commandPasses } from './stop-conditions/checks.ts';
import { contextLimit, createStopRule, finalAnswer, stuckLoop } from './stop-conditions/stop-conditions.ts';

type FormerGateOptions = Omit<GateRuleOptions, 'description' | 'decide'> & {
  readonly why: string;
  readonly objection: GateRuleOptions['decide'];
};

const enforce = ({ why, objection, ...rest }: FormerGateOptions): GateRule =>
  defineGate({ ...rest, description: why, decide: objection });

/** Former name to export. A rule file receives its tools by name from a function argument, so a missing name would disable its gates. */
export const deprecatedRuleNames: Readonly<Record<string, unknown>> = {
  enforce,
  claimedResult: fabricatedResult,
  awareness: reminderSystemPrompt,
  reminding: compileReminders,
  usualRoles: defaultToolRoles,
  inFormat: renderAs,
  rendererFor: createRenderer,
  rulesOf: compileRuleSet,
  history: sessionStats,
  contextUse: selectors.contextUsage,
  entities: selectors.mentionedEntities,
  failures: selectors.toolFailures,
  files: selectors.touchedFiles,
  fileUse: selectors.fileUsage,
  loop: selectors.detectLoop,
  pause: selectors.idleMs,
  spending: selectors.spendingBreakdown,
  toolUse: selectors.toolStats,
  tries: selectors.callAttempts,
  triesOf: selectors.attemptsOf,
  mustAnswer: answerMatches,
  passingCommand: commandPasses,
  answerOf: finalAnswer,
  contextOver: contextLimit,
  stopRule: createStopRule,
  stuck: stuckLoop,
};
