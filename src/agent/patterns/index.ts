// The package entry fairlead/patterns: several agents, models or functions on one task, with independent checks, one budget and a trace.
export { type PatternBudget, type PatternSpent } from './budget.ts';
export {
  debate,
  type DebateOptions,
  type DebateResult,
  type DebaterInput,
  type DebateSide,
  type DebateVote,
  type JudgeChoice,
  type JudgeInput,
} from './debate.ts';
export {
  dedupeFindings,
  type DedupeOptions,
  type DedupeResult,
  type DoubtfulPair,
  type Finding,
  type FindingSource,
  type KeptFinding,
  type SourcedFinding,
} from './findings/index.ts';
export {
  mapReduce,
  type MapItem,
  type MappedItem,
  type MapperInput,
  type MapReduceOptions,
  type MapReduceResult,
  type PairInput,
} from './map-reduce.ts';
export {
  orchestrateWorkers,
  type CombineInput,
  type OrchestrateOptions,
  type OrchestrateResult,
  type SplitInput,
  type WorkedPart,
  type WorkerInput,
} from './orchestrate-workers.ts';
export {
  type AgentParticipant,
  type CallContext,
  type FunctionParticipant,
  type ModelParticipant,
  type Participant,
  type PatternAgent,
} from './participant.ts';
export {
  patternAnnotation,
  type PatternEntry,
  type PatternOptions,
  type PatternReport,
  type PatternStop,
} from './pattern-run.ts';
export { type Evaluation } from './read-answer.ts';
export {
  refineAnswer,
  type AuthorInput,
  type EvaluatorInput,
  type RefineOptions,
  type RefineResult,
  type RefinementRound,
} from './refine-answer.ts';
export { type ForkableWorkspace, type ParsedAction } from './tree/forkable-workspace.ts';
export {
  createFolderWorkspace,
  type FileAction,
  type FolderWorkspace,
  type FolderWorkspaceOptions,
} from './tree/folder-workspace.ts';
export { searchTree, type SearchedState, type TreeSearchOptions, type TreeSearchResult } from './tree/search-tree.ts';
export { type CheckInput, type ProposerInput, type ReflectorInput, type StateCheck } from './tree/tree-roles.ts';
export { createValueWorkspace, type ValueWorkspace, type ValueWorkspaceOptions } from './tree/value-workspace.ts';
