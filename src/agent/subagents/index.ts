// Sub-agents: start, manage, resume and end agents that an agent starts.
export { type ApprovalTracker, type SubagentStore, type SubagentManagerOptions } from './launch.ts';
export { formatSubagentCaps, formatUsd, sumSubagentUse, type SubagentUse } from './caps.ts';
export { estimateByPrice, requestedTurns, subagentConsentGate, type SubagentConsentOptions } from './consent-gate.ts';
export { subagentTools } from './manage-tools.ts';
export { type SubagentManager, createSubagentManager } from './lifecycle.ts';
export { parseSubagentMetadata, type SubagentInfo } from './metadata.ts';
export { formatSubagentDetails, truncateToLine, subagentStatus } from './format.ts';
