// The core's public names: pure, no node:*, no npm.
export { unlessAborted } from './abort.ts';
export { capped, type Capped } from './capped.ts';
export { aimOf, makeCalls, USE_TOOL } from './calls.ts';
export {
  FairleadError,
  fromFailure,
  messageOf,
  toFailure,
  type Blame,
  type ErrorDetails,
  type Failure,
} from './errors.ts';
export type {
  Baseline,
  EpochReason,
  Event,
  DecisionSource,
  Fact,
  FileMark,
  ActiveRun,
  InputHow,
  Limits,
  Note,
  Outcome,
  PendingInput,
  Rejection,
  Spent,
  StopReason,
  Verdict,
} from './fact.ts';
export type {
  Allowance,
  Amount,
  Delivery,
  FleetRun,
  FleetStore,
  HandedCall,
  Inbox,
  KillSwitch,
  Ledger,
  Letter,
  NewRun,
  Percentiles,
  Question,
  Queue,
  QueueDepth,
  QueueLimits,
  Roster,
  RunFilter,
  RunOutcome,
  RunStatus,
  Schedule,
  Settlement,
  Standing,
  Tally,
  Work,
  WorkerEntry,
} from './fleet.ts';
export { decide, type Ruling } from './gate.ts';
export { keepText, keptText, spelling, textLength, type KeptText } from './kept-text.ts';
export { openHead, type Facts, type Head } from './head.ts';
export { illegal } from './legal.ts';
export type { Live, LiveText } from './live.ts';
export { canonical, isJson, isObject, toJson, type Json, type JsonObject } from './json.ts';
export { run, type RunContext } from './loop.ts';
export {
  callsOf,
  isSilent,
  textOf,
  type CallPart,
  type FilePart,
  type FinishReason,
  type Message,
  type Meta,
  type Part,
  type ReasoningPart,
  type ResultPart,
  type TextPart,
  type ToolChoice,
  type ToolSpec,
  type Usage,
} from './message.ts';
export { digest, digestSoFar, feed, newDigest, type Digest } from './digest.ts';
export { ending } from './ending.ts';
export { deliverable } from './inputs.ts';
export { isStuck, next, type Step } from './next.ts';
export { remind } from './turn.ts';
export { runChecks } from './verify.ts';
export { enqueue, flush, inOrder, notesIn, SAFETY, wordsOf } from './notes.ts';
export type {
  AgentParts,
  AnswerShape,
  AppendOptions,
  Check,
  Chunk,
  CompactContext,
  Compacted,
  Compactor,
  Decision,
  Gate,
  Log,
  NamedView,
  Output,
  Price,
  Provider,
  Reminder,
  Renderer,
  RendererContext,
  Request,
  Rule,
  Settings,
  Stop,
  Tool,
  ToolContext,
  View,
} from './ports.ts';
export { isOutput, output, resultOf, shorten } from './output.ts';
export { nearest } from './near.ts';
export { harmless, outsideText } from './outside-text.ts';
export { render } from './render.ts';
export type { SessionEntry, Sessions, TakeOptions } from './sessions.ts';
export { looksSecret } from './secret-file.ts';
export { bill, billCut, costOf, noSpending, spend, type Bill } from './spending.ts';
export { fold, runView, type Ask, type Call, type RunState } from './state.ts';
export { emptyTable, entriesOf, put, tableOf, valueAt, without, type Table } from './table.ts';
export { last, push, swapLast, toArray, trailOf, type Trail } from './trail.ts';
export { outcomeQuestion } from './unsure.ts';
export { isCost, isUsage } from './usage.ts';
export { look, type Seen } from './views.ts';
export { visible, visibleLine } from './visible.ts';
export type {
  Change,
  Entry,
  ExecOptions,
  FetchRequest,
  Fetched,
  FileContent,
  Listing,
  Ran,
  Stamp,
  Workspace,
  Written,
} from './workspace.ts';
export { oldEventTypes, upcastEvent, upcastQuestion, upcastSpent } from './upcast.ts';
export { compactionFacts, costOnly, newEpoch, shorter, type Shortened } from './epoch.ts';
export { settleOpenCalls } from './call-fold.ts';
export { frameOf } from './turn-fold.ts';
export { estimate, estimateOf, tokensIn, tokensOf, wordsIn } from './tokens.ts';
export { callId } from './answer.ts';
export { childLimits, childParts, type ChildWish } from './child.ts';
