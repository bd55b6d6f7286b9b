// The public names of the evals module: run datasets, compare with a baseline, back-test rules, simulate policies, explain turns.
export {
  compareToBaseline,
  formatComparison,
  readBaseline,
  type BaselineComparison,
  type RateChange,
} from './baseline.ts';
export { backtest, compileBacktestRules, type BacktestResult } from './backtest.ts';
export { builtinDataset } from './builtin-dataset.ts';
export { parseDataset, type EvalCase, type Expectation } from './dataset.ts';
export { evaluate, type EvalCaseInput, type EvalScorer, type EvaluateOptions } from './evaluate.ts';
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
export { createEvalReport, formatEvalReport, formatRate, type EvalReport } from './report.ts';
export { measureRuleEffectiveness, type RuleEffectiveness, followUpTurns } from './rule-effectiveness.ts';
export { runEvalCase, type EvalCaseResult, type EvalContext } from './runner.ts';
export { isAbstention } from '../checks/index.ts';
export { findAnswerErrors } from './scorers.ts';
export { getSessionDirectory, simulatePolicy, type SimulatedDecision } from './simulate-policy.ts';
