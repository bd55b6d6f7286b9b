// The behaviours we ship: what a session's history can be asked, reminders, gates, stops and renderers over it, and what makes a long conversation shorter.
export { fabricatedResult } from './claimed-result.ts';
export { compactionDiff } from './compaction/diff.ts';
export { preserveUserMessages } from './compaction/pinned.ts';
export { summarizingCompactor, type SummarizeOptions } from './compaction/summarising.ts';
export { truncatingCompactor, type CompactionOptions } from './compaction/trimming.ts';
export { compactAt } from './enforcement/compact-at.ts';
export { confirm, type ConfirmOptions } from './enforcement/confirm.ts';
export {
  defineGate,
  type GateRule,
  type GateRuleOptions,
  type GateExample,
  type DenyOrAsk,
  type RuleScope,
} from './enforcement/enforcement.ts';
export { exclusive, phases, requireOrder, type PhaseOptions, type RuleScopeOptions } from './enforcement/order.ts';
export { rateLimit, type RateLimit } from './enforcement/rate-limit.ts';
export { readBeforeEdit, type ReadBeforeEditOptions } from './enforcement/read-before-edit.ts';
export { buildFixtureLog, type ExampleStep, type FixtureLog } from './examples/steps.ts';
export {
  runGateExample,
  runReminderExample,
  runStopExample,
  type StopExample,
  type ExampleResult,
} from './examples/trial.ts';
export type { ContextParts } from './history/context-parts.ts';
export type { Entity, EntityKind } from './history/entities.ts';
export type { FileUse } from './history/file-uses.ts';
export type { EndedCall } from './history/open-calls.ts';
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
} from './history/questions.ts';
export type { ToolStats, CallAttempts } from './history/tool-marks.ts';
export { sessionStats, type SessionStats, type ModelStats } from './history/view.ts';
export { reminderSystemPrompt, reminderIntroKey, withReminderSystemPrompt } from './reminders/awareness.ts';
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
} from './reminders/reminding.ts';
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
export { compileRules, validateRules, rulesSchema } from './sets/compile.ts';
export {
  evaluateCondition,
  conditionFacts,
  type Condition,
  type FactTest,
  type ConditionSubject,
} from './sets/conditions.ts';
export type { DeclaredGate, DeclaredReminder, DeclaredRules, DeclaredStop } from './sets/declared.ts';
export { compileRuleSet, type CompiledRuleSet, type RuleSet } from './sets/rule-set.ts';
export { runRuleSetExamples } from './sets/trying.ts';
export { answerMatches, commandPasses, type CommandCheckOptions } from './stops/checks.ts';
export { allOf, anyOf } from './stops/combined.ts';
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
} from './stops/stops.ts';
