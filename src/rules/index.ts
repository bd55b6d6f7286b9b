// The behaviours we ship: what a session's history can be asked, reminders, gates, stops and renderers over it, and what makes a long conversation shorter.
export { claimedResult } from './claimed-result.ts';
export { compactionDiff } from './compaction/diff.ts';
export { keeping } from './compaction/pinned.ts';
export { summarising, type SummarisingOptions } from './compaction/summarising.ts';
export { trimming, type CompactionOptions } from './compaction/trimming.ts';
export { compactAt } from './enforcement/compact-at.ts';
export { confirm, type Confirmation } from './enforcement/confirm.ts';
export {
  enforce,
  type Enforcement,
  type EnforcementParts,
  type GateExample,
  type Objection,
  type Span,
} from './enforcement/enforcement.ts';
export { exclusive, phases, requireOrder, type PhaseOptions, type SpanOptions } from './enforcement/order.ts';
export { rateLimit, type RateLimit } from './enforcement/rate-limit.ts';
export { readBeforeEdit, type FileTools } from './enforcement/read-before-edit.ts';
export { play, type ExampleStep, type Played } from './examples/steps.ts';
export { tryGate, tryReminder, tryStop, type StopExample, type Trial } from './examples/trial.ts';
export type { ContextParts } from './history/context-parts.ts';
export type { Entity, EntityKind } from './history/entities.ts';
export type { FileUse } from './history/file-uses.ts';
export type { EndedCall } from './history/open-calls.ts';
export {
  callsSince,
  contextUse,
  endedCall,
  entities,
  failures,
  files,
  fileUse,
  isRetry,
  loop,
  pause,
  spending,
  toolUse,
  tries,
  triesOf,
  type ContextUse,
  type Failures,
  type Loop,
  type Mention,
  type Spending,
} from './history/questions.ts';
export type { ToolMark, Try } from './history/tool-marks.ts';
export { history, type History, type ModelMark } from './history/view.ts';
export { awareness, seedKey, withAwareness } from './reminders/awareness.ts';
export { builtInReminders, builtInTable, usualRoles, type ToolRoles, type Tuning } from './reminders/built-in.ts';
export type { Cooldown, Looking, ReminderDefinition, ReminderExample } from './reminders/definition.ts';
export { defineReminder, reminding, type DefinedReminder, type Reminding } from './reminders/reminding.ts';
export { namedEvents, triggers, type EventName, type Trigger } from './reminders/triggers.ts';
export { inFormat, type Format } from './rendering/formats.ts';
export { asRenderable, isRenderable, renderable, type Renderable } from './rendering/renderable.ts';
export { bundleOf, PROTOCOL, rendererFor, type Bundle, type RendererChoice } from './rendering/renderers.ts';
export { EVENT_SCHEMA, eventSchema } from './schema/event-schema.ts';
export { compileRules, ruleFaults, rulesSchema } from './sets/compile.ts';
export { holds, questions, type Condition, type FactTest, type Subject } from './sets/conditions.ts';
export type { DeclaredGate, DeclaredReminder, DeclaredRules, DeclaredStop } from './sets/declared.ts';
export { rulesOf, type RuleParts, type RuleSet } from './sets/rule-set.ts';
export { tryRules } from './sets/trying.ts';
export { mustAnswer, passingCommand, type PassingCommand } from './stops/checks.ts';
export { allOf, anyOf } from './stops/combined.ts';
export {
  answerOf,
  contextOver,
  errorThreshold,
  expectedOutput,
  moneyBudget,
  stopRule,
  stopWhen,
  stuck,
  taskComplete,
  timeLimit,
  tokenBudget,
  turnLimit,
  type Halt,
  type StopRule,
} from './stops/stops.ts';
