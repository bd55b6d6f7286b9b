// The public names of the coding agent: the assembled agent of the terminal, its conversations, models and settings.
export { Conversation } from './conversation.ts';
export type { ConversationFlags, ConversationOptions } from './conversation-state.ts';
export type { ConversationStatus } from './conversation-status.ts';
export { codingAgent, type CodingAgentOptions } from './coding-agent.ts';
export { createCodingAgent, type CodingAgent, type CreateCodingAgentOptions } from './create-agent.ts';
export { noUser, type UserPrompter } from './integrations/index.ts';
export { openModel, type ModelHost } from './models/open-model.ts';
export { findModel, type ResolvedModel } from './models/resolve-model.ts';
export { resolveModelUnattended } from './models/resolve-model.ts';
export { readSettings, type Settings } from './settings/index.ts';
export { createRunAgentFactory } from './fleet/agent-factory.ts';
export { createRunHandlers } from './fleet/run-handlers.ts';
export { isAwaitingApproval, listPendingApprovals, resolvePendingApprovals, type ApprovalTarget } from './approvals.ts';
export { listApprovalChoices, type ApprovalAnswer, type ApprovalChoice } from './approval-choices.ts';
