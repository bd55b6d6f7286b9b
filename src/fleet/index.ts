// Public API of the fleet: workers, run handlers, agents of runs, and messages to runs.
export {
  toAgentFactory,
  type AgentFactory,
  type AgentInstance,
  type AgentSource,
  type WrapProvider,
} from './agent-factory.ts';
export { worker, type AgentWorker, type AgentWorkerOptions } from './create-agent-worker.ts';
export { createClientTools, getClientOptions, type ClientRunOptions, type ClientToolResult } from './client-tools.ts';
export { sendMessage, inboxView, assertAcceptsMessages, listActiveRuns } from './inbox.ts';
export { createAgentRunHandler, type RunHandler, type RunHandlerContext } from './run-handler.ts';
export { startWorker, type Worker, type WorkerOptions, type WorkerStatus } from './worker.ts';
export { type BlockedRuns, getBlockReason, summarizeBlockedRuns, listOpenRuns } from './blocked-runs.ts';
export { formatStoppedMessage } from './kill-switch.ts';
export { findAutoRun } from './session-rights.ts';
export { enqueueOnce, type RunDifference, findRunDifference } from './enqueue-once.ts';
export { createOrchestrationHandler } from './orchestrator.ts';
export { listToolNames, selectTools } from './agent-factory.ts';
export {
  createTaskRunHandler,
  readTaskNotes,
  type TaskContext,
  type TaskNotes,
  type TaskResult,
} from './task-run-handler.ts';
export { findRun, shortenRunId } from './find-run.ts';
export { isResting } from './rate-limit-rest.ts';
export {
  answerPlan,
  cancelStep,
  createPlanOrchestration,
  createPlanSchema,
  defaultPlanCaps,
  estimatePlan,
  maxPlanCaps,
  parsePlan,
  readPlan,
  steerStep,
  type AttemptCost,
  type DescribeCatalog,
  type EstimateOptions,
  type ParsedPlan,
  type PlanBounds,
  type PlanCaps,
  type PlanCatalog,
  type PlanControlStore,
  type PlanEstimate,
  type PlanEvent,
  type PlanModel,
  type PlanOptions,
  type PlanStage,
  type PlanStart,
  type PlanStep,
  type PlanStepView,
  type PlanView,
  type StepLimits,
  type StepRecord,
  type StepStatus,
} from './plan/index.ts';
