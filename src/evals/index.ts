// The public names of the evals module: run datasets, compare with a baseline, back-test rules, simulate policies, explain turns.
export {
  compareToBaseline,
  formatComparison,
  readBaseline,
  readEvalReport,
  type BaselineComparison,
  type EvalBaseline,
  type RateChange,
} from './baseline.ts';
export { backtest, compileBacktestRules, type BacktestResult } from './backtest.ts';
export { builtinDataset } from './builtin-dataset.ts';
export { parseDataset, type EvalCase, type RecordedStart } from './dataset.ts';
export { parseDatasetText, readDataset } from './read-dataset.ts';
export { checkRepositoryTasks, readRepositoryTasks } from './check-tasks.ts';
export { parseRepositoryTasks, type RepositoryTask } from './repository-tasks.ts';
export {
  type ExpectedCall,
  type ExpectedCode,
  type ExpectedNumber,
  type ExpectedRubric,
  type ExpectedSequence,
  type ExpectedSupport,
  type Expectation,
} from './expectation.ts';
export { assertIndependentJudges, toJudgedModel, type JudgedModel } from './judge.ts';
export { type EvalCaseResult, type EvalTrial, type TrajectoryStep } from './results.ts';
export {
  assertTrialCounts,
  runTrials,
  type EvalProgress,
  type RunTrialsOptions,
  type TrialResults,
} from './run-trials.ts';
export { scoreTrial, type RunCaseCommand, type ScoringContext, type TrialRun } from './score-trial.ts';
export { findTrajectoryErrors, toTrajectory } from './trajectory.ts';
export {
  evaluate,
  needsJudge,
  runTrialsInFile,
  type EvalCaseInput,
  type EvalScorer,
  type EvaluateOptions,
} from './evaluate.ts';
export {
  explainTurn,
  getDirectoryOfEvents,
  type ExplainedNote,
  type HeldCall,
  type NoteOrigin,
  type TurnExplanation,
} from './explain-turn.ts';
export { formatTurnExplanation } from './format-explanation.ts';
export {
  findRecordedSessions,
  loadActiveRuleParts,
  loadActiveRuleSets,
  loadNamedRuleSets,
  readRecordedEvents,
  readRuleFilesIn,
} from './recorded-sessions.ts';
export {
  createEvalReport,
  formatEvalReport,
  formatRate,
  type EvalCost,
  type EvalLatency,
  type EvalReport,
  type EvalReportAbout,
} from './report.ts';
export { measureRuleEffectiveness, type RuleEffectiveness, followUpTurns } from './rule-effectiveness.ts';
export { runEvalTrial, type EvalContext } from './runner.ts';
export { isAbstention } from '../checks/index.ts';
export { findAnswerErrors } from './scorers.ts';
export { getSessionDirectory, simulatePolicy, type SimulatedDecision } from './simulate-policy.ts';
export {
  checkEvalGates,
  formatGateResults,
  toComparisonGate,
  type ComparisonGate,
  type EvalGate,
  type EvalGateResult,
} from './gates.ts';
export { compareReports, formatEvalComparison, type CaseChange, type EvalComparison } from './compare.ts';
export { getEvaluationId, runQueuedTrials, type QueuedTrialsOptions } from './trial-queue.ts';
export {
  driftRunKind,
  formatDriftResult,
  handleDriftRun,
  measureModelDrift,
  saveDriftPlan,
  type DriftPlan,
  type DriftResult,
  type DriftRunOptions,
} from './model-drift.ts';
export { findResultsFile, type ResultsFile } from './results-file.ts';
export {
  formatHtmlReport,
  formatJunitReport,
  formatMarkdownReport,
  isReportFile,
  writeEvalReport,
  type HtmlReportParts,
} from './reports/index.ts';
export {
  createSessionCase,
  formatSessionCase,
  writeSessionCase,
  type SessionCase,
  type SessionCaseOptions,
} from './session-case.ts';
