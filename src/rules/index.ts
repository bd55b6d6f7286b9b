// Public API of rules: session statistics, reminders, gates, stop conditions, renderers and compaction.
export { deprecatedRuleNames } from './deprecated-names.ts';
export { fabricatedResult } from './fabricated-result.ts';
export { compactionDiff } from './compaction/diff.ts';
export { preserveUserMessages } from './compaction/preserve-user-messages.ts';
export { summarizingCompactor, type SummarizeOptions } from './compaction/summarize.ts';
export { truncatingCompactor, type CompactionOptions } from './compaction/truncate.ts';
export { compactAt } from './compaction/compact-at.ts';
export { confirm, type ConfirmOptions } from './gates/confirm.ts';
export {
  defineGate,
  type GateRule,
  type GateRuleOptions,
  type GateExample,
  type DenyOrAsk,
  type RuleScope,
} from './gates/gate-rule.ts';
export { exclusive, phases, requireOrder, type PhaseOptions, type RuleScopeOptions } from './gates/order.ts';
export { rateLimit, type RateLimit } from './gates/rate-limit.ts';
export { readBeforeEdit, type ReadBeforeEditOptions } from './gates/read-before-edit.ts';
export { buildFixtureLog, type ExampleStep, type FixtureLog } from './testing/fixture-log.ts';
export {
  runGateExample,
  runReminderExample,
  runStopExample,
  type StopExample,
  type ExampleResult,
} from './testing/run-examples.ts';
export type { ContextParts } from './session-stats/context-parts.ts';
export type { Entity, EntityKind } from './session-stats/entities.ts';
export type { FileUse } from './session-stats/file-uses.ts';
export type { EndedCall } from './session-stats/open-calls.ts';
export {
  callsSince,
  contextUsage,
  endedCall,
  mentionedEntities,
  toolFailures,
  touchedFiles,
  fileUsage,
  isRetry,
  detectLoop,
  idleMs,
  spendingBreakdown,
  toolStats,
  callAttempts,
  attemptsOf,
  type ContextUsage,
  type ToolFailures,
  type CallLoop,
  type EntityMention,
  type SpendingBreakdown,
} from './session-stats/selectors.ts';
export type { ToolStats, CallAttempts } from './session-stats/tool-stats.ts';
export { sessionStats, type SessionStats, type ModelStats } from './session-stats/view.ts';
export { reminderSystemPrompt, reminderIntroKey, withReminderSystemPrompt } from './reminders/system-prompt-section.ts';
export {
  builtInReminders,
  builtInReminderTable,
  defaultToolRoles,
  type ToolRoles,
  type ReminderTuning,
} from './reminders/built-in.ts';
export type { Cooldown, ReminderContext, ReminderDefinition, ReminderExample } from './reminders/definition.ts';
export {
  defineReminder,
  compileReminders,
  type DefinedReminder,
  type CompiledReminders,
} from './reminders/compile-reminders.ts';
export {
  reminderEvents,
  allReminderTriggers,
  type ReminderEventName,
  type ReminderTrigger,
} from './reminders/triggers.ts';
export { renderAs, type RenderFormat } from './rendering/formats.ts';
export { asRenderable, isRenderable, renderable, type Renderable } from './rendering/renderable.ts';
export {
  createOutputBundle,
  BUNDLE_VERSION,
  createRenderer,
  type OutputBundle,
  type RendererChoice,
} from './rendering/renderers.ts';
export { EVENT_SCHEMA_VERSION, eventSchema } from './schema/event-schema.ts';
export { compileRules, validateRules, rulesSchema } from './declarative/compile.ts';
export {
  evaluateCondition,
  conditionFacts,
  type Condition,
  type FactTest,
  type ConditionSubject,
} from './declarative/conditions.ts';
export type { DeclaredGate, DeclaredReminder, DeclaredRules, DeclaredStop } from './declarative/rule-file-types.ts';
export { compileRuleSet, type CompiledRuleSet, type RuleSet } from './declarative/rule-set.ts';
export { runRuleSetExamples } from './testing/run-rule-set-examples.ts';
export { answerMatches, commandPasses, type CommandCheckOptions } from './stop-conditions/checks.ts';
export { allOf, anyOf } from './stop-conditions/combined.ts';
export {
  finalAnswer,
  contextLimit,
  errorThreshold,
  expectedOutput,
  moneyBudget,
  createStopRule,
  stopWhen,
  stuckLoop,
  taskComplete,
  timeLimit,
  tokenBudget,
  turnLimit,
  type StopDecision,
  type StopRule,
} from './stop-conditions/stop-conditions.ts';
